// External job with callback, asked again at most 20 times.
export default defineComponent({
  props: { line: { type: "object" } },
  async run({ $ }) {
    const { runs, context, callback_request: cb } = $.context.run;
    if (cb) return { ok: cb.body.ok };
    if (runs === 1) {
      const { resume_url } = $.flow.rerun(60_000, { sku: this.line.sku }, 20);
      await fetch("https://stock.example/reserve", { method: "POST", headers: { "Idempotency-Key": $.context.idempotency_key }, body: JSON.stringify({ ...this.line, callback: resume_url }) });
      return;
    }
    if (runs > 20) throw new Error(`no answer for ${context.sku}`);
    $.flow.rerun(60_000, context, 20);
  },
});
