export default {
  name: "Throw",
  version: "0.0.1",
  run() {
    this.$emit("before");
    const error = new TypeError("on purpose");
    error.code = "E_PURPOSE";
    throw error;
  },
};
