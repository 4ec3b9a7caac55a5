cat >my-source.mjs <<'EOF'
export default { name: "Mine", key: "mine-new-thing", version: "0.0.1", run() {} };
EOF
mkdir my-components
sed s/mine-new-thing/mine-other-thing/ my-source.mjs >my-components/other.mjs
