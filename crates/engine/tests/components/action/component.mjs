export default {
  name: "Action",
  version: "0.0.1",
  type: "action",
  props: { text: { type: "string" } },
  async run({ steps, $ }) {
    $.export("early", { steps, text: this.text });
    $.export("$summary", "Done");
    $.export("nothing");
    return $.flow.exit("enough");
  },
};
