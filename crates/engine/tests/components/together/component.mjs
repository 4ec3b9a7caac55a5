let waiting = [];

export default {
  name: "Together",
  version: "0.0.1",
  async run(event) {
    console.log(`in ${event.name}`);
    this.$emit(event.name);
    if (waiting.length + 1 < event.of) await new Promise((resolve) => waiting.push(resolve));
    else waiting.forEach((resolve) => resolve());
    console.log(`out ${event.name}`);
    return event.name;
  },
};
