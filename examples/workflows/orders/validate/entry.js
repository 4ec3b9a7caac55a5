// Checks the order, and adds its total.
export default defineComponent({
  async run({ steps, $ }) {
    const order = steps.trigger.event.body;
    const mistake = mistakeIn(order);
    if (mistake) {
      await $.respond({ status: 400, body: { error: mistake } });
      return $.flow.exit(mistake);
    }
    const total = order.lines.reduce(
      (sum, { price, quantity }) => sum + price * quantity,
      0,
    );
    $.export("$summary", `Order ${order.order_id}: ${total.toFixed(2)} EUR`);
    return { ...order, total };
  },
});

function mistakeIn(order) {
  if (!order?.order_id) return "order_id is missing";
  if (!Array.isArray(order.lines) || order.lines.length === 0) {
    return "lines is empty";
  }
  const isGood = ({ sku, quantity, price }) =>
    sku && quantity > 0 && price >= 0;
  const bad = order.lines.findIndex((line) => !isGood(line ?? {}));
  return bad < 0 ? undefined : `lines[${bad}] needs sku, quantity and price`;
}
