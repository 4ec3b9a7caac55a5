cat >greet.mjs <<'EOF'
export default {
  name: "Greet", key: "greet", version: "0.0.1", type: "action",
  props: { name: "string" },
  run({ $ }) {
    console.log(`greeting ${this.name}`);
    $.export("$summary", `Greeted ${this.name}`);
    return { text: `Hello ${this.name}!` };
  },
};
EOF
