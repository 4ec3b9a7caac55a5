cat >news.mjs <<'EOF'
export default { name: "News", version: "0.0.1", run() { this.$emit({ n: 1 }, { name: "news" }); } };
EOF
headwater deploy news.mjs
