headwater webhooks create "$receiver/alarms" --name alarms
mkdir -p orders/charge
cat >orders/workflow.yaml <<'EOF'
name: orders
triggers:
- type: http
steps:
- namespace: route
  type: ifelse
  branches:
  - name: large
    if: "{{true}}"
    steps:
    - namespace: charge
EOF
cat >orders/charge/entry.js <<EOF
export default defineComponent({
  async run() {
    const answer = await fetch("$receiver/down-once");
    if (!answer.ok) throw new Error("the payment service is down");
  },
});
EOF
headwater workflows deploy orders
headwater workflows run orders --wait || true
