/** What an action finds in `$`, and what of it leaves the worker. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";

function action(body: string): string {
  return `export default { name: "T", version: "1", type: "action",
    props: { text: { type: "string" } },
    async run({ steps, $ }) { ${body} } };`;
}

Deno.test("exports leave in order, and the return value with the outcome", async () => {
  await using worker = await startComponent(action(`
    $.export("first", { a: steps.before.$return_value });
    $.export("$summary", "Did " + this.text);
    $.export("nothing");
    return $.context.id;`));
  const run = await worker.run({
    props: { text: "it" },
    event: { steps: { before: { $return_value: 7 } }, context: { id: "inv_1" } },
  });
  assert.deepEqual(run.of("export").map(({ key, value }) => [key, value]), [
    ["first", { a: 7 }],
    ["$summary", "Did it"],
    ["nothing", undefined],
  ]);
  assert.equal(run.outcome.value, "inv_1");
  assert.deepEqual(run.of("exit"), []);
});

Deno.test("an exit is told with its reason, returned or not", async () => {
  await using worker = await startComponent(action(`
    if (this.text === "returned") return $.flow.exit("enough");
    $.flow.exit(); return 1;`));
  const returned = await worker.run({ props: { text: "returned" } });
  assert.deepEqual(returned.of("exit").map(({ text }) => text), ["enough"]);
  assert.equal(returned.outcome.value, undefined);
  const noted = await worker.run({ props: { text: "" } });
  assert.deepEqual(noted.of("exit").map(({ text }) => text), [""]);
  assert.equal(noted.outcome.value, 1);
});

Deno.test("what needs a workflow says so, by name", async () => {
  await using worker = await startComponent(action(`
    const calls = [() => $.respond({ status: 200 }), () => $.flow.delay(1), () => $.flow.suspend(),
      () => $.flow.rerun(1), () => $.send.http({}), () => $.send.email({}), () => $.send.s3({}),
      () => $.send.emit({}), () => $.send.sse({})];
    return calls.map((call) => { try { call(); } catch (error) { return error.message; } });`));
  const { outcome } = await worker.run();
  assert.equal(outcome.value.length, 9);
  assert.equal(
    outcome.value[4],
    "$.send.http works in workflows only; this action is run alone",
  );
});

Deno.test("an export that is no JSON is an error of the run that names it", async () => {
  await using worker = await startComponent(action(`$.export("big", 1n);`));
  assert.match((await worker.run()).outcome.error.message, /\$\.export: "big"/);
});
