/** Evaluations: questions of a workflow's blocks, in a component without code. */

import assert from "node:assert/strict";
import { SpawnedWorker, startComponent } from "./spawned_worker.ts";
import {
  answersOf,
  codeStep,
  expression,
  stepInput,
  WITHOUT_CODE,
} from "./workflow_host.ts";

async function startWithoutCode(
  env: Record<string, string> = {},
): Promise<SpawnedWorker> {
  const worker = await SpawnedWorker.start({
    files: {},
    load: { ...WITHOUT_CODE, env },
  });
  const { type, error } = await worker.frame((frame) => frame.type.startsWith("load"));
  assert.equal(type, "loaded", error?.message);
  return worker;
}

Deno.test("answers come in the order of the questions, each in its kind", async () => {
  await using worker = await startWithoutCode({ NAME: "value" });
  const answers = await answersOf(worker, [
    { value: expression("steps.before.$return_value.map((n) => n + 1)") },
    { value: { $template: ["n = ", { expression: "event.n" }] } },
    { value: expression("undefined") },
    { value: [expression("undefined"), 2] },
    { value: expression("process.env.NAME + process.env.PIPEDREAM_TRACE_ID") },
    { condition: { expression: "event.n > 2" } },
    { condition: { op: "is_text", a: expression("event.n") } },
    { first: [{ expression: "event.n > 5" }, { expression: "event.n > 1" }, null] },
    { first: [{ expression: "false" }, null] },
    { first: [{ expression: "false" }] },
    { first: [] },
    { value: "text" },
  ], {
    steps: { trigger: { event: { n: 3 } }, before: { $return_value: [1, 2] } },
  });
  assert.deepEqual(answers, [
    [2, 3],
    "n = 3",
    null,
    [null, 2],
    "valuetrace_1",
    true,
    false,
    1,
    1,
    null,
    null,
    "text",
  ]);
});

Deno.test("the first that holds ends its question", async () => {
  await using worker = await startWithoutCode();
  const first = [{ expression: "true" }, { expression: "missing()" }];
  assert.deepEqual(await answersOf(worker, [{ first }]), [0]);
});

Deno.test("an error names the question that it belongs to", async () => {
  await using worker = await startWithoutCode();
  const run = (ask: unknown[]) =>
    worker.run({ entry: { kind: "evaluate" }, event: { ...stepInput(), ask } });
  const { error } = (await run([
    { name: "on", value: 1 },
    { name: "cases.large.if", condition: { expression: "steps.gone.$return_value" } },
  ])).outcome;
  assert.equal(error.name, "TypeError");
  assert.match(error.message, /^cases\.large\.if: Cannot read properties of undefined/);
  assert.match(error.stack, /^TypeError: cases\.large\.if: Cannot read/);
  assert.doesNotMatch(error.stack, /worker\/|expressions\.ts/);
  for (
    const [value, message] of [
      ["(() => {})", /^over: the value is not JSON-serializable: it is a function$/],
      ["(", /^over: .*(Unexpected|missing)/],
      [`(() => { throw "text"; })()`, /^over: text$/],
      ["(() => { throw Object.freeze(new Error('frozen')); })()", /^over: frozen$/],
    ] as const
  ) {
    const { outcome } = await run([{ name: "over", value: expression(value) }]);
    assert.match(outcome.error.message, message);
  }
  const fails = `fetch failed", { cause: new Error("connect ECONNREFUSED a.example") }`;
  const unreachable = expression(`(() => { throw new TypeError("${fails}); })()`);
  const { error: ofFetch } =
    (await run([{ name: "over", value: unreachable }])).outcome;
  assert.equal(ofFetch.message, "over: fetch failed: connect ECONNREFUSED a.example");
  assert.match(ofFetch.stack, /^TypeError: over: fetch failed\n/);
  const { outcome } = await run([{ value: expression("missing") }]);
  assert.equal(outcome.error.message, "missing is not defined");
});

Deno.test("without code nothing but evaluations can be invoked", async () => {
  await using worker = await startWithoutCode();
  for (const entry of [{ kind: "run" }, { kind: "step" }]) {
    const { outcome } = await worker.run({ entry, event: stepInput() });
    assert.equal(outcome.error.message, "no component is loaded");
  }
  assert.deepEqual(await answersOf(worker, [{ value: 1 }]), [1]);
  worker.send({ type: "unload", component: 1 });
  const loaded = await worker.load(2, { files: {}, load: WITHOUT_CODE });
  assert.equal(loaded.type, "loaded");
});

Deno.test("expressions log as code does, and are evaluated beside a component too", async () => {
  await using worker = await startComponent(codeStep("return 1;"));
  const event = {
    ...stepInput(),
    ask: [{ value: expression(`console.log("seen"), 1`) }],
  };
  const run = await worker.run({ entry: { kind: "evaluate" }, event });
  assert.deepEqual(run.of("log").map(({ text }) => text), ["seen"]);
  assert.deepEqual(run.outcome.value, [1]);
});

Deno.test("evaluations of two runs do not see each other's trace", async () => {
  await using worker = await startWithoutCode();
  const trace = expression(
    "await new Promise((resolve) => setTimeout(resolve, 1)).then(() => process.env.PIPEDREAM_TRACE_ID)",
  );
  const answers = await Promise.all(
    ["a", "b"].map((trace_id) =>
      answersOf(worker, [{ value: trace }], { context: { trace_id } })
    ),
  );
  assert.deepEqual(answers, [["a"], ["b"]]);
});
