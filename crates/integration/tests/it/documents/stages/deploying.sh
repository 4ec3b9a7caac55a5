cat >orders.mjs <<'EOF'
export default { name: "Orders", version: "0.1.0", props: { http: "$.interface.http" }, run() {} };
EOF
headwater deploy orders.mjs
sed -i s/0.1.0/0.2.0/ orders.mjs
headwater update orders orders.mjs
headwater deployments orders
