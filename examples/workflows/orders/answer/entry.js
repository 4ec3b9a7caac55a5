// Answers the request that began the run.
export default defineComponent({
  props: {
    order: { type: "object" },
    shipping: { type: "object" },
    reserved: { type: "any" },
  },
  async run({ $ }) {
    const { order_id, lines, total } = this.order;
    // A line whose step failed has null in its place.
    const missing = lines.filter((_, index) => this.reserved[index] === null);
    const body = {
      order_id,
      total: total + this.shipping.cost,
      missing: missing.map(({ sku }) => sku),
    };
    await $.respond({
      status: missing.length < lines.length ? 202 : 409,
      body,
    });
    $.export(
      "$summary",
      `Order ${order_id}: ${missing.length} of ${lines.length} lines missing`,
    );
  },
});
