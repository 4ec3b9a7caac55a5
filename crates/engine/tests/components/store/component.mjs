export default {
  name: "Store",
  version: "0.0.1",
  props: { data: { type: "data_store" } },
  async run() {
    await this.data.set("key", null);
    const kept = await this.data.get("key");
    const missing = await this.data.get("missing");
    const refused = await this.data.get("refused").catch((error) => error.message);
    return [kept, missing === undefined, refused];
  },
};
