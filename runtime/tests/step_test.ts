/** Steps of workflows: their guard, their code and its surroundings. */

import assert from "node:assert/strict";
import { startComponent, startComponents } from "./spawned_worker.ts";
import { codeStep, expression, runStep, stepInput } from "./workflow_host.ts";

Deno.test("a code step needs neither key nor type, and is called as an action", async () => {
  const forms = [
    codeStep("return [steps.trigger.event.n, $.context.id, this.text];"),
    `export default { async run({ steps, $ }) { return [steps.trigger.event.n, $.context.id, this.text]; } };`,
    `export default { key: "a-b", name: "B", version: "0.0.1", type: "action", props: { text: { type: "string" } },
      methods: { read(steps) { return steps.trigger.event.n; } },
      run({ steps, $ }) { return [this.read(steps), $.context.id, this.text]; } };`,
    `module.exports = { run: async function ({ steps, $ }) { return [steps.trigger.event.n, $.context.id, this.text]; } };`,
  ];
  for (const form of forms) {
    const isCommonJs = form.startsWith("module");
    await using worker = await startComponent(
      isCommonJs ? `const module = {}; ${form} export default module.exports;` : form,
    );
    const run = await runStep(worker, {
      steps: { trigger: { event: { n: 3 } } },
      props: { text: { $template: ["n=", { expression: "event.n" }] } },
    });
    assert.deepEqual(run.outcome.value, [3, "exe_1", "n=3"], run.outcome.error?.stack);
    assert.deepEqual(run.frames.map(({ type }) => type), ["outcome"]);
  }
});

Deno.test("exports leave in order, and an exit with its reason", async () => {
  await using worker = await startComponent(codeStep(`
    $.export("first", { a: 1 }); $.export("$summary", "done");
    return $.flow.exit("enough");`));
  const run = await runStep(worker);
  assert.deepEqual(run.of("export").map(({ key, value }) => [key, value]), [
    ["first", { a: 1 }],
    ["$summary", "done"],
  ]);
  assert.deepEqual(run.of("exit").map(({ text }) => text), ["enough"]);
  assert.equal(run.outcome.value, undefined);
});

Deno.test("a step whose guard does not hold calls nothing of its component", async () => {
  await using worker = await startComponent(`
    console.log("loaded");
    export default defineComponent({
      props: { text: { type: "string" } },
      methods: { greet() { return "hi"; } },
      async run() { console.log("ran"); return this.text; } });`);
  const props = { text: expression("console.log('prop'), 'x'") };
  const skipped = await runStep(worker, { if: { expression: "event.go" }, props });
  assert.deepEqual(skipped.frames.map(({ type }) => type), ["skipped", "outcome"]);
  assert.equal("value" in skipped.outcome, false);
  const steps = { trigger: { event: { go: 1 } } };
  const ran = await runStep(worker, { if: { expression: "event.go" }, props, steps });
  assert.deepEqual(ran.of("log").map(({ text }) => text), ["prop", "ran"]);
  assert.equal(ran.outcome.value, "x");
});

Deno.test("a guard that throws fails the step and names itself", async () => {
  await using worker = await startComponent(codeStep("console.log('ran');"));
  const run = await runStep(worker, { if: { expression: "steps.gone.$return_value" } });
  assert.deepEqual(run.frames.map(({ type }) => type), ["outcome"]);
  assert.match(run.outcome.error.message, /^if: Cannot read properties of undefined/);
});

Deno.test("`steps` and `$.context` are the run's own to change", async () => {
  await using worker = await startComponent(codeStep(`
    const before = JSON.stringify([steps, $.context.startTime ?? null]);
    steps.trigger.event.changed = true; steps.added = 1; $.context.startTime = 5; $.context.run.context = "x";
    return [before, $.context.startTime];`));
  const first = await runStep(worker);
  const second = await runStep(worker);
  assert.deepEqual(first.outcome.value, second.outcome.value);
  assert.equal(
    first.outcome.value[0],
    `[{"trigger":{"event":{},"context":{}}},null]`,
  );
  assert.equal(first.outcome.value[1], 5);
});

Deno.test("a resumed step finds the request, and one that is tried again the former try", async () => {
  await using worker = await startComponent(
    codeStep("return [$.$resume_data, $.$attempt, Object.keys($)];"),
  );
  const run = { runs: 2, context: null, callback_request: { body: { ok: true } } };
  const attempt = { error: { message: "before" } };
  const { outcome } = await runStep(worker, { context: { run }, attempt });
  assert.deepEqual(outcome.value.slice(0, 2), [run.callback_request, attempt]);
  const plain = await runStep(worker);
  assert.deepEqual(plain.outcome.value, [
    null,
    null,
    ["export", "respond", "flow", "send", "files", "context"],
  ]);
});

const SURROUNDINGS = `
  import fs from "node:fs"; import { env } from "node:process"; import os from "node:os";
  import { setTimeout as sleep } from "node:timers/promises";
  export default defineComponent({ async run({ steps, $ }) {
    const seen = new Set();
    const look = () => seen.add([process.env.PIPEDREAM_TRACE_ID, env.PIPEDREAM_TRACE_ID, Deno.env.get("PIPEDREAM_TRACE_ID"),
      { ...process.env }.PIPEDREAM_TRACE_ID, "PIPEDREAM_TRACE_ID" in process.env, process.env.GIVEN, os.tmpdir()].join());
    if (steps.trigger.event.write) fs.writeFileSync("/tmp/kept", steps.trigger.event.write);
    for (const wait of [() => 0, () => sleep(1), () => new Promise((resolve) => setTimeout(resolve, 1)),
      () => new Promise((resolve) => setImmediate(resolve)), () => fs.promises.stat("/tmp"),
      () => new Promise((resolve) => fs.stat("/tmp", resolve))]) { await wait(); look(); }
    return [[...seen], fs.readdirSync("/tmp").map((name) => fs.readFileSync("/tmp/" + name, "utf8"))];
  } });`;

Deno.test("two runs at once have their own trace and their own /tmp", async () => {
  await using worker = await startComponent(SURROUNDINGS, { env: { GIVEN: "g" } });
  const runs = await Promise.all(["a", "b"].map((name) =>
    runStep(worker, {
      steps: { trigger: { event: { write: name } } },
      context: { trace_id: `trace_${name}` },
      tmp: `inv_${name}`,
    })
  ));
  for (const [at, name] of ["a", "b"].entries()) {
    const trace = `trace_${name}`;
    const seen = [trace, trace, trace, trace, true, "g", "/tmp"].join();
    assert.deepEqual(
      runs[at]!.outcome.value,
      [[seen], [name]],
      runs[at]!.outcome.error,
    );
  }
});

Deno.test("steps of one run share its /tmp until that is forgotten", async () => {
  await using worker = await startComponents([SURROUNDINGS, SURROUNDINGS]);
  const filesOf = async (component: number, write: string, tmp: string) => {
    const steps = { trigger: { event: { write } } };
    const { outcome } = await runStep(worker, { steps, tmp }, { component });
    return outcome.value?.[1] ?? outcome.error;
  };
  assert.deepEqual(await filesOf(1, "first", "inv_1"), ["first"]);
  assert.deepEqual(await filesOf(2, "", "inv_1"), ["first"]);
  assert.deepEqual(await filesOf(2, "", "inv_2"), []);
  const folders = () =>
    Array.from(Deno.readDirSync(`${worker.folder}/tmp`), ({ name }) => name).sort();
  assert.deepEqual(folders(), [".run-inv_1", ".run-inv_2"]);
  worker.send({ type: "forget_tmp", tmp: "inv_1" });
  worker.send({ type: "forget_tmp", tmp: "inv_never" });
  while (folders().includes(".run-inv_1")) await filesOf(1, "", "inv_2");
  assert.deepEqual(await filesOf(1, "", "inv_1"), []);
});

Deno.test("errors and paths call the folder of the run /tmp", async () => {
  await using worker = await startComponent(`import fs from "node:fs"; ${
    codeStep(`
      console.log(fs.mkdtempSync("/tmp/made-").slice(0, 10));
      fs.readFileSync("/tmp/missing");`)
  }`);
  const run = await runStep(worker);
  assert.deepEqual(run.of("log").map(({ text }) => text), ["/tmp/made-"]);
  assert.match(run.outcome.error.message, /'\/tmp\/missing'/);
});

const STILL_RUNNING = "Code was still running when the step ended";

Deno.test("code that is still running at the end of the step is told", async () => {
  const endings: [body: string, lines: string[]][] = [
    ["setTimeout(() => console.log('late'), 60_000);", [STILL_RUNNING]],
    ["setInterval(() => {}, 60_000); return 1;", [STILL_RUNNING]],
    ["$.files.open('a').toBuffer().catch(() => {});", [STILL_RUNNING]],
    [
      "clearTimeout(setTimeout(() => {}, 60_000)); setInterval(() => {}, 60_000).unref();",
      [],
    ],
    ["await new Promise((resolve) => setTimeout(resolve, 1));", []],
    ["setTimeout(() => {}, 60_000); throw new Error('failed');", []],
  ];
  for (const [body, lines] of endings) {
    await using worker = await startComponent(codeStep(body));
    const run = await runStep(worker);
    assert.deepEqual(run.of("log").map(({ text }) => text), lines, body);
  }
});

Deno.test("`$` does nothing once its step has ended", async () => {
  await using worker = await startComponent(`
    let kept;
    export default defineComponent({ async run({ steps, $ }) {
      if (kept === undefined) { kept = $; return "first"; }
      const texts = [];
      const call = async (name, body) => { try { texts.push([name, await body() === undefined]); } catch (error) { texts.push([name, error.message]); } };
      await call("export", () => kept.export("a", 1));
      await call("exit", () => kept.flow.exit("a"));
      await call("respond", () => kept.respond({ status: 200 }));
      await call("emit", () => kept.send.emit({ a: 1 }));
      await call("trigger", () => kept.flow.trigger("p_1"));
      await call("delete", () => kept.files.open("a").delete());
      await call("urls", () => { kept.flow.suspend(); });
      return texts; } });`);
  await runStep(worker);
  const ended = worker.frames.length;
  const run = await runStep(worker);
  const late = "was called after the run had ended and did nothing";
  assert.deepEqual(run.outcome.value, [
    ["export", true],
    ["exit", true],
    ["respond", true],
    ["emit", true],
    ["trigger", `$.flow.trigger: workflows trigger ${late}`],
    ["delete", `$.files: files delete ${late}`],
    ["urls", true],
  ]);
  const since = worker.frames.slice(ended);
  assert.deepEqual(
    since.filter(({ type }) => type === "log").map(({ id, text }) => [id, text]),
    ["$.export", "$.flow.exit", "$.respond", "$.send.emit", "$.flow.suspend"].map((
      call,
    ) => [null, `${call} ${late}`]),
  );
  assert.equal(since.length, 6);
});

Deno.test("a return value that is no JSON is an error that says so", async () => {
  await using worker = await startComponent(codeStep("return { n: 1n };"));
  const { error } = (await runStep(worker)).outcome;
  assert.match(error.message, /the return value is not JSON-serializable/);
});

Deno.test("an app has no run, and says so", async () => {
  await using worker = await startComponent(
    `export default { type: "app", app: "a" };`,
  );
  const { error } = (await runStep(worker)).outcome;
  assert.equal(error.message, "the step has no run method");
});

Deno.test("an action run alone finds `$` as before", async () => {
  await using worker = await startComponent(`
    export default { type: "action", name: "T", version: "1", run({ $ }) {
      return [() => $.files.open("a"), () => $.flow.trigger("p_1"), () => $.flow.delay(1)].map((call) => {
        try { call(); } catch (error) { return error.message; } }); } };`);
  const run = await worker.run({ event: stepInput() });
  assert.deepEqual(
    run.outcome.value,
    ["$.files.open", "$.flow.trigger", "$.flow.delay"].map((call) =>
      `${call} works in workflows only; this action is run alone`
    ),
  );
});
