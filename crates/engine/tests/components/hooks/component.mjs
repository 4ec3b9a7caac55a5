export default {
  name: "Hooks",
  version: "0.0.1",
  props: { greeting: "string" },
  hooks: {
    deploy() {
      this.$emit(`deploy ${this.greeting}`);
    },
    activate() {
      throw new Error("no activation");
    },
  },
  run() {},
};
