// Counts its own runs in the key-value store, which keeps its values over restarts and updates.
//
//   headwater deploy examples/counter.mjs --prop timer=10s
export default {
  name: "Counter",
  version: "0.0.1",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
    db: "$.service.db",
  },
  hooks: {
    deploy() {
      this.db.set("count", 0);
    },
  },
  run({ timestamp }) {
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    this.$emit({ count, timestamp }, { summary: `Run ${count}` });
  },
};
