// Keeps every request that arrives at its endpoint. The node answers 200 once the request is
// durable, before this code runs.
//
//   headwater deploy examples/webhook-inbox.mjs
//   curl -d 'hello=world' ENDPOINT_URL/any/path
export default {
  name: "Webhook inbox",
  version: "0.0.1",
  props: {
    http: "$.interface.http",
  },
  run({ method, path, query, headers, body }) {
    const sent = typeof body === "string"
      ? body
      : JSON.stringify(body ?? query);
    const summary = `${method} ${path} ${sent.slice(0, 80)}`;
    this.$emit({ method, path, query, headers, body }, { summary });
  },
};
