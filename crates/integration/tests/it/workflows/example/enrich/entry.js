export default defineComponent({
  props: { postgresql: { type: "app", app: "postgresql" }, seen: { type: "data_store" } },
  async run({ steps, $ }) {
    const o = steps.trigger.event;
    if (o.status === "draft") return $.flow.exit("draft order");
    await this.seen.set(String(o.id), $.context.ts, { ttl: 86400 });
    $.export("$summary", `order ${o.id}`);
    return { total: Number(o.total), lines: o.lines ?? [] };
  },
});
