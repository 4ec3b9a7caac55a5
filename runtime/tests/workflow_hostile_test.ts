/** Steps beside code that patches everything: it hurts its own run, and no other. */

import assert from "node:assert/strict";
import { SpawnedWorker, startComponents } from "./spawned_worker.ts";
import { SPIES } from "./spies.ts";
import {
  answerRequests,
  answersOf,
  codeStep,
  expression,
  FileService,
  runStep,
} from "./workflow_host.ts";

const WORKER = new URL("../worker/", import.meta.url).href;

/** Uses everything that a step has. */
const BUSY = `
  export default defineComponent({ props: { db: "$.service.db", text: "string", list: { type: "string[]" } }, async run({ steps, $ }) {
    $.export("text", [this.text, this.list]); this.$emit({ a: 1 }); this.db.set("k", 1);
    $.send.http({ url: "https://a.example", headers: { a: "b" } });
    $.flow.suspend(1000, { a: 1 }); $.flow.delay(1);
    await $.respond({ status: 200, body: "text" });
    await $.files.open("kept").stat();
    $.context.changed = process.env.PIPEDREAM_TRACE_ID;
    return [steps.before.$return_value, $.context.changed]; } });`;

const FIELDS = {
  if: {
    and: [{ expression: "event.go" }, { op: "exists", a: expression("event.go") }],
  },
  steps: { trigger: { event: { go: true } }, before: { $return_value: [1] } },
  props: { text: expression("'t'"), list: ["a", expression("`b`")] },
};

const FRAMES = ["export", "send", "kv", "send", "flow", "flow", "respond", "ask"];

async function assertBusyWorks(
  worker: SpawnedWorker,
  component: number,
): Promise<void> {
  const run = await runStep(worker, FIELDS, { component });
  assert.equal(run.outcome.error, undefined, run.outcome.error?.stack);
  assert.deepEqual(run.frames.map(({ type }) => type), [...FRAMES, "outcome"]);
  assert.deepEqual(run.of("export")[0]?.value, ["t", ["a", "b"]]);
  const [emit, http] = run.of("send");
  assert.deepEqual(emit?.value, { event: { a: 1 } });
  assert.deepEqual(http?.value, {
    method: "GET",
    url: "https://a.example",
    headers: { a: "b" },
  });
  const [suspend, delay] = run.of("flow").map(({ id: _id, type: _type, ...rest }) =>
    rest
  );
  assert.deepEqual(suspend, { op: "suspend", after_ms: 1000, context: { a: 1 } });
  assert.deepEqual(delay, { op: "delay", after_ms: 1 });
  assert.deepEqual(run.of("ask")[0]?.arguments, { path: "kept" });
  assert.deepEqual(run.outcome.value, [[1], "trace_1"]);
}

const PATCHES: [what: string, code: string][] = [
  [
    "methods of arrays",
    `for (const name of ["map", "push", "join", "forEach", "filter", "concat", "slice", "includes", "values", "entries", "some", "find"]) {
      Array.prototype[name] = () => { throw new Error("patched " + name); }; }`,
  ],
  [
    "fields of all objects",
    `for (const name of ["$template", "$literal", "__lv", "expression", "and", "or", "not", "op", "a", "b", "if", "lazy", "attempt",
      "is_test", "error", "context", "max_retries", "channel", "auth", "data", "params", "after", "$data_store"]) {
      Object.defineProperty(Object.prototype, name, { value: { polluted: name }, writable: true, configurable: true }); }
    Object.prototype.get = () => "polluted";`,
  ],
  [
    "JSON",
    `JSON.stringify = () => "broken"; JSON.parse = () => ({ type: "broken" });`,
  ],
  [
    "functions and promises",
    `globalThis.Function = class {}; Function.prototype.constructor = null; Object.keys = () => ["patched"]; Object.hasOwn = () => true;
    Array.isArray = () => true; Object.defineProperty = () => { throw new Error("patched"); };`,
  ],
  [
    "maps and expressions",
    `Map.prototype.get = () => undefined; Map.prototype.set = () => { throw new Error("patched"); }; String.prototype.trim = () => "";`,
  ],
];

for (const [what, code] of PATCHES) {
  Deno.test(`steps work although a component patched ${what}`, async () => {
    const patching = `export default { run() { ${code} return "patched"; } };`;
    await using worker = await startComponents([patching, BUSY]);
    const service = new FileService();
    answerRequests(worker, (request) => service.answer(request));
    await runStep(worker, {}, { component: 1 });
    await assertBusyWorks(worker, 2);
    const answers = await answersOf(worker, [
      { value: { $template: ["a", { expression: "event.go" }] } },
      { condition: { op: "number_less", a: "1", b: 2 } },
      { first: [{ not: { expression: "true" } }, null] },
    ], FIELDS);
    assert.deepEqual(answers, ["atrue", true, 1]);
    assert.equal(worker.noise, "");
  });
}

Deno.test("nothing of a step's runtime is handed to patched built-ins, nor its token", async () => {
  const spying = `${SPIES}
    for (const name of ["outbox", "session", "invocation", "step_effects", "step_props", "scope", "loaded_component"]) {
      for (const [key, Class] of Object.entries(await import("${WORKER}" + name + ".ts"))) {
        if (Class.prototype) intrinsics[key] = Class.prototype;
      }
    }
    for (const name of ownKeys(intrinsics)) spyOn(name, intrinsics[name]);
    export default { run({ steps }) {
      if (steps.trigger.event.begin) { isOff = false; return; }
      isOff = true; return { seen, calls }; } };`;
  await using worker = await startComponents([spying, BUSY]);
  const service = new FileService();
  answerRequests(worker, (request) => service.answer(request));
  const begin = { trigger: { event: { begin: true } } };
  await runStep(worker, { steps: begin }, { component: 1 });
  await assertBusyWorks(worker, 2);
  await answersOf(worker, [{ value: expression("event") }], FIELDS);
  const { outcome } = await runStep(worker, {}, { component: 1 });
  assert.deepEqual(outcome.value?.seen, {}, outcome.error?.stack);
  assert.ok(outcome.value.calls > 100, "the spies were called");
});

Deno.test("with the runtime's own modules a step speaks for no other", async () => {
  const forging = codeStep(`
    const { currentInvocation } = await import("${WORKER}scope.ts");
    const { expressionOf } = await import("${WORKER}expressions.ts");
    const own = currentInvocation();
    for (const [name, value] of [["id", 1e6], ["component", 2], ["tmp", "inv_2"], ["traceId", "theirs"]]) {
      try { own[name] = value; } catch {}
      try { Object.defineProperty(own, name, { value }); } catch {}
    }
    const shared = expressionOf("event.go");
    try { shared.call = () => "forged"; } catch {}
    try { Object.getPrototypeOf(own.step).send = () => { throw new Error("forged"); }; } catch {}
    own.step.send("emit", { event: "mine" });
    return steps.trigger.event.go;`);
  await using worker = await startComponents([forging, BUSY]);
  const service = new FileService();
  answerRequests(worker, (request) => service.answer(request));
  const run = await runStep(worker, FIELDS, { component: 1 });
  assert.deepEqual(run.of("send").map(({ value }) => value), [{ event: "mine" }]);
  await assertBusyWorks(worker, 2);
  assert.deepEqual(
    await answersOf(worker, [{ value: expression("event.go") }], FIELDS),
    [
      true,
    ],
  );
});

Deno.test("runs that are no steps have no effects of steps", async () => {
  await using worker = await startComponents([
    `export default { name: "T", version: "1", type: "action", async run() {
      const { currentInvocation } = await import("${WORKER}scope.ts");
      return currentInvocation().step ?? "none"; } };`,
  ]);
  assert.equal((await worker.run()).outcome.value, "none");
  const asked = expression(
    `(await import("${WORKER}scope.ts")).currentInvocation().step ?? "none"`,
  );
  assert.deepEqual(await answersOf(worker, [{ value: asked }]), ["none"]);
});
