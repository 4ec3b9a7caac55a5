// A source: emits an event for each new item of a JSON list, which it asks for every 15 minutes.
export default {
  type: "source",
  name: "{{name}}",
  key: "{{key}}",
  version: "0.0.1",
  description: "Emits an event for each new item of a JSON list",
  // Each `id` is emitted once.
  dedupe: "unique",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 15 * 60 } },
    url: {
      type: "string",
      label: "URL",
      description: "Address of a JSON list of objects, each with an `id`",
    },
  },
  methods: {
    async items() {
      const response = await fetch(this.url);
      if (!response.ok) throw new Error(`${this.url} answered ${response.status}`);
      return await response.json();
    },
  },
  async run() {
    for (const item of await this.items()) {
      this.$emit(item, { id: item.id, summary: item.title ?? `Item ${item.id}` });
    }
  },
};
