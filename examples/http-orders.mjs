// An HTTP source that answers its requests itself. Each order is emitted once, however often its
// sender repeats it, and a request without an order id is answered with 400.
//
//   headwater deploy examples/http-orders.mjs
//   curl -d '{"order_id": 7, "total": 12.5}' -H 'content-type: application/json' ENDPOINT_URL
export default {
  name: "Orders",
  version: "0.0.1",
  dedupe: "unique",
  props: {
    http: { type: "$.interface.http", customResponse: true },
  },
  run({ body }) {
    if (!body?.order_id) {
      return this.http.respond({
        status: 400,
        body: { error: "order_id is missing" },
      });
    }
    const summary = `Order ${body.order_id}`;
    this.$emit(body, { id: body.order_id, summary });
    // The event above is on disk when the response is sent.
    this.http.respond({ status: 202, body: { accepted: body.order_id } });
  },
};
