/** `$.flow` of a step: pauses, their URLs, other workflows. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";
import { answerRequests, codeStep, DEADLINE, runStep, URLS } from "./workflow_host.ts";

const PAUSE_URLS = { resume_url: URLS.resume, cancel_url: URLS.cancel };
const DAY_MS = 86_400_000;

/** A step that calls each function of `$`, and returns results and errors. */
function calls(texts: string[]): string {
  const functions = texts.map((text) => `() => ${text}`).join();
  return codeStep(`const results = [];
    for (const call of [${functions}]) { try { results.push(await call() ?? null); } catch (error) { results.push(error.message); } }
    return results;`);
}

Deno.test("pauses are told in the order of the calls, and the code goes on", async () => {
  await using worker = await startComponent(calls([
    "$.flow.delay(1)",
    "$.flow.delay('2500.2', { a: 1 })",
    "$.flow.suspend()",
    "$.flow.suspend(60_000, 'why')",
    "$.flow.rerun(0)",
    "$.flow.rerun(10_000, { step: 2 }, 3)",
    "$.flow.rerun(1, null, null)",
    "$.flow.suspend(Number.MAX_SAFE_INTEGER)",
  ]));
  const run = await runStep(worker);
  const rerunUrls = { ...PAUSE_URLS, rerun_url: URLS.rerun };
  assert.deepEqual(run.outcome.value, [
    ...Array(4).fill(PAUSE_URLS),
    ...Array(3).fill(rerunUrls),
    PAUSE_URLS,
  ]);
  const told = run.of("flow").map(({ type: _type, id: _id, ...fields }) => fields);
  assert.deepEqual(told, [
    { op: "delay", after_ms: 1 },
    { op: "delay", after_ms: 2501, context: { a: 1 } },
    { op: "suspend", after_ms: DAY_MS },
    { op: "suspend", after_ms: 60_000, context: "why" },
    { op: "rerun", after_ms: 0, max_retries: 10 },
    { op: "rerun", after_ms: 10_000, context: { step: 2 }, max_retries: 3 },
    { op: "rerun", after_ms: 1, context: null, max_retries: 10 },
    { op: "suspend", after_ms: 36_525 * DAY_MS },
  ]);
});

Deno.test("times that cannot be kept are refused by name", async () => {
  const refused: [call: string, message: RegExp][] = [
    ["$.flow.delay(Infinity)", /^\$\.flow\.delay: the delay must be .*, not Infinity$/],
    ["$.flow.delay(NaN)", /not NaN$/],
    ["$.flow.delay(-1)", /1 to 31536000000, not -1$/],
    ["$.flow.delay(0)", /not 0$/],
    ["$.flow.delay(31536000001)", /not 31536000001$/],
    ["$.flow.delay()", /not undefined$/],
    ["$.flow.delay('soon')", /not the string "soon"$/],
    ["$.flow.delay(true)", /not a boolean$/],
    [
      "$.flow.suspend(Infinity)",
      /^\$\.flow\.suspend: the timeout must be .*, not Infinity$/,
    ],
    ["$.flow.suspend(-5)", /at least 0, not -5$/],
    ["$.flow.rerun()", /^\$\.flow\.rerun: the delay must be/],
    ["$.flow.rerun(NaN)", /not NaN$/],
    ["$.flow.rerun(1, {}, -1)", /^\$\.flow\.rerun: maxRetries must be .*, not -1$/],
    ["$.flow.rerun(1, {}, Infinity)", /maxRetries must be .*, not Infinity$/],
    [
      "$.flow.rerun(1, { n: 1n })",
      /^\$\.flow\.rerun: the context is not JSON-serializable/,
    ],
  ];
  await using worker = await startComponent(calls(refused.map(([call]) => call)));
  const run = await runStep(worker);
  for (const [at, [call, message]] of refused.entries()) {
    assert.match(run.outcome.value[at], message, call);
  }
  assert.deepEqual(run.of("flow"), []);
});

Deno.test("the longest delay is a year", async () => {
  await using worker = await startComponent(calls(["$.flow.delay(31536000000)"]));
  const run = await runStep(worker);
  assert.equal(run.of("flow")[0]?.after_ms, 31_536_000_000);
});

Deno.test("in a test a pause ends the run with a message, and the code goes on", async () => {
  for (const op of ["delay", "suspend", "rerun"]) {
    await using worker = await startComponent(calls([`$.flow.${op}(5000)`, "'after'"]));
    const run = await runStep(worker, { is_test: true });
    assert.deepEqual(run.of("flow"), []);
    const [exit] = run.of("exit");
    assert.equal(
      exit?.text,
      `the test ends here: $.flow.${op} pauses a run for up to 5000 ms`,
    );
    assert.equal(run.outcome.value[0].resume_url, URLS.resume);
    assert.equal(run.outcome.value[1], "after");
  }
});

Deno.test("another workflow is asked for its result", async () => {
  await using worker = await startComponent(calls([
    "$.flow.trigger('p_1', { a: 1 }, { result_type: 'all_exports' })",
    "$.flow.trigger('p_2')",
    "$.flow.trigger('p_gone')",
    "$.flow.trigger('')",
    "$.flow.trigger({ id: 'p_1' })",
    "$.flow.trigger('p_1', 1n)",
  ]));
  answerRequests(worker, ({ arguments: { workflow } }) => {
    if (workflow === "p_gone") return { error: `there is no workflow "p_gone"` };
    return { value: { of: workflow } };
  });
  const run = await runStep(worker);
  const [first, second, gone, empty, object, big] = run.outcome.value;
  assert.deepEqual([first, second], [{ of: "p_1" }, { of: "p_2" }]);
  assert.equal(gone, `$.flow.trigger: there is no workflow "p_gone"`);
  assert.match(empty, /must be a workflow's id, not the string ""$/);
  assert.match(object, /not an object$/);
  assert.match(big, /^\$\.flow\.trigger: the payload is not JSON-serializable/);
  const asked = run.of("ask").map(({ service, operation, arguments: given }) => [
    service,
    operation,
    given,
  ]);
  assert.deepEqual(asked, [
    ["workflows", "trigger", {
      workflow: "p_1",
      payload: { a: 1 },
      result_type: "all_exports",
    }],
    ["workflows", "trigger", { workflow: "p_2", payload: null }],
    ["workflows", "trigger", { workflow: "p_gone", payload: null }],
  ]);
});

Deno.test("refreshTimeout asks for time, and says until when", async () => {
  await using worker = await startComponent(codeStep(`
    const said = $.flow.refreshTimeout();
    return { said, deadline: $.context.deadline };`));
  const run = await runStep(worker);
  const { said, deadline } = run.outcome.value;
  assert.ok(deadline >= DEADLINE.first && deadline < DEADLINE.last, deadline);
  assert.equal(said, `the step may run until ${new Date(deadline).toISOString()}`);
  assert.equal(run.of("refresh_timeout").length, 1);

  const last = { first: DEADLINE.first, last: DEADLINE.first };
  const { outcome } = await runStep(worker, { deadline: last });
  assert.match(outcome.value.said, /00:01\.000Z, which is the latest$/);
  assert.equal(outcome.value.deadline, last.last);
});

Deno.test("a step that has ended gets no more time", async () => {
  await using worker = await startComponent(
    codeStep(
      "const { refreshTimeout } = $.flow; const former = globalThis.former; globalThis.former = refreshTimeout; return former?.() ?? null;",
    ),
  );
  assert.equal((await runStep(worker)).outcome.value, null);
  const run = await runStep(worker);
  assert.equal(run.outcome.value, "the step has ended");
  assert.equal(run.of("refresh_timeout").length, 0);
});
