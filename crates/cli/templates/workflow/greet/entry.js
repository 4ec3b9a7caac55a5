// A step: `steps` has the trigger's event and the results of the steps before it.
export default defineComponent({
  async run({ steps, $ }) {
    const name = steps.trigger.event.body?.name ?? "world";
    $.export("$summary", `Greeted ${name}`);
    return { greeting: `Hello, ${name}!` };
  },
});
