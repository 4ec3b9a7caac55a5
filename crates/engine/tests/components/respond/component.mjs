export default {
  name: "Respond",
  version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run(event) {
    this.http.respond({
      status: 201,
      headers: { "x-a": "1", "set-cookie": ["a=1", "b=2"] },
      body: Buffer.from([0, 255, Number(event)]),
    });
    this.http.respond({ status: 500 });
  },
};
