headwater workflows deploy examples/workflows/orders
mkdir -p orders/tests
cat >orders/workflow.yaml <<'EOF'
name: Order lines
triggers:
- type: http
steps:
- namespace: count
  code: "export default { run({ steps }) { return (steps.trigger.event.lines ?? []).length; } };"
- namespace: answer
  props: { total: "{{steps.totals?.$return_value}}" }
  code: "export default { props: { total: { type: 'integer', optional: true } }, run() { return this.total ?? 0; } };"
EOF
for name in empty missing_line; do
  printf 'event: {}\nexpect: { status: succeeded }\n' >orders/tests/$name.yaml
done
headwater workflows deploy orders
echo '{ "lines": [] }' >order-event.json
