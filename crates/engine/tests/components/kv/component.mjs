export default {
  name: "Key-value",
  version: "0.0.1",
  props: { db: "$.service.db" },
  run() {
    const seen = this.db.get("count");
    this.db.set("count", (seen ?? 0) + 1);
    this.db.set("gone", undefined);
    this.db.set("nothing", null);
    return seen;
  },
};
