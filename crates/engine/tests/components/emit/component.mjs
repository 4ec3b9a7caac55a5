export default {
  name: "Emit",
  version: "0.0.1",
  run(event) {
    this.$emit(event, { id: "a", name: "channel", summary: "first", ts: 5 });
    this.$emit();
    console.log("between");
    this.$emit({ nested: { list: [1, null, "é"] } }, { id: 7 });
    return { given: event };
  },
};
