// Reserves a line of an order. The numbers stand in for a request to a stock service, to which
// `$.context.idempotency_key` would tell that a line is asked for again.
const STOCK = { pen: 100, book: 3 };

export default defineComponent({
  props: { line: { type: "object" } },
  run({ $ }) {
    const { sku, quantity } = this.line;
    const left = STOCK[sku] ?? 0;
    if (quantity > left) {
      throw new Error(
        `${quantity} of ${sku} are wanted, and ${left} are there`,
      );
    }
    $.export("$summary", `Reserved ${quantity} of ${sku}`);
    return { sku, quantity };
  },
});
