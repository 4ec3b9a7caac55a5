cat >tasks.mjs <<'EOF'
export default {
  name: "Tasks", key: "tracker-tasks", version: "0.0.1", type: "action",
  props: {
    tracker: { type: "app", app: "tracker" },
    board: "string",
    task: { type: "integer", options() { return [{ label: "Write the report", value: 17 }]; } },
  },
  run() {},
};
EOF
cat >greet.mjs <<'EOF'
export default {
  name: "Greet", key: "greetings-greet", version: "0.0.1", type: "action",
  props: { name: "string" },
  async run({ $ }) {
    $.export("$summary", `Greeted ${this.name}`);
    return `Hello ${this.name}`;
  },
};
EOF
headwater publish tasks.mjs
headwater publish greet.mjs
headwater accounts add tracker --field token=t
