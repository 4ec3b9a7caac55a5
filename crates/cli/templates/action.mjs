// An action: runs once when it is told to, and returns something.
export default {
  type: "action",
  name: "{{name}}",
  key: "{{key}}",
  version: "0.0.1",
  description: "Greets somebody",
  props: {
    name: { type: "string", label: "Name", description: "Who is greeted" },
    greeting: { type: "string", label: "Greeting", options: ["Hello", "Servus"], default: "Hello" },
  },
  methods: {
    text() {
      return `${this.greeting} ${this.name}!`;
    },
  },
  async run({ $ }) {
    const text = this.text();
    // The summary is read first; further exports are for the steps after this one.
    $.export("$summary", `Greeted ${this.name}`);
    return { text };
  },
};
