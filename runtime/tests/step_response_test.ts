/** `$.respond` of a step. */

import assert from "node:assert/strict";
import { type Run, startComponent } from "./spawned_worker.ts";
import { codeStep, runStep, stepInput } from "./workflow_host.ts";

async function responding(body: string): Promise<Run> {
  await using worker = await startComponent(`
    import { PassThrough, Readable } from "node:stream"; import { EventEmitter } from "node:events";
    class Old extends EventEmitter { pipe() {} pause() {} resume() {} }
    const old = (...chunks) => {
      const stream = new Old();
      setImmediate(() => { for (const chunk of chunks) stream.emit("data", chunk); stream.emit("end"); });
      return stream; };
    ${codeStep(body)}`);
  return await runStep(worker);
}

function bodyOf(run: Run): string {
  const parts = run.of("respond_body").map(({ body }) => Uint8Array.fromBase64(body));
  return parts.map((part) => new TextDecoder("latin1").decode(part)).join("");
}

Deno.test("a response leaves with the call, and says when it is to be sent", async () => {
  const run = await responding(`
    const promise = $.respond({ status: 201, headers: { "X-A": 1 }, body: { a: 1 } });
    $.export("after", promise instanceof Promise);
    return await promise ?? "nothing";`);
  assert.deepEqual(run.frames.map(({ type }) => type), [
    "respond",
    "export",
    "outcome",
  ]);
  const { id: _id, ...response } = run.frames[0]!;
  assert.deepEqual(response, {
    type: "respond",
    status: 201,
    headers: { "X-A": "1", "content-type": "application/json; charset=utf-8" },
    body: '{"a":1}',
    encoding: "utf8",
    immediate: false,
    more: false,
  });
  assert.equal(run.outcome.value, "nothing");
});

Deno.test("bodies of every kind, with 200 as the usual status", async () => {
  const bodies: [given: string, expected: unknown[]][] = [
    ["{ body: 'text' }", [200, "text", "utf8"]],
    ["{ status: '204' }", [204, "", "utf8"]],
    ["{ body: Buffer.from([0, 255]), immediate: true }", [200, "AP8=", "base64"]],
    ["{ body: new Uint16Array([1]) }", [200, "AQA=", "base64"]],
    ["{ body: [1] }", [200, "[1]", "utf8"]],
    ["{ body: 5 }", [200, "5", "utf8"]],
    ["{}", [200, "", "utf8"]],
  ];
  for (const [given, expected] of bodies) {
    const run = await responding(`await $.respond(${given});`);
    const [response] = run.of("respond");
    assert.deepEqual([response?.status, response?.body, response?.encoding], expected);
    assert.equal(response?.immediate, given.includes("immediate"));
  }
});

const LARGE = 100_000;

for (
  const [kind, stream] of [
    [
      "a stream of Node",
      `Readable.from([Buffer.alloc(${LARGE}, "x"), "y\\u00e9"], { objectMode: false })`,
    ],
    ["an old one", `old(Buffer.alloc(${LARGE}, "x"), Buffer.from("y\\u00e9"))`],
    ["one of the web", `new Response("x".repeat(${LARGE}) + "y\\u00e9").body`],
    [
      "an iterable",
      `(async function* () { yield new Uint8Array(${LARGE}).fill(120); yield new TextEncoder().encode("y\\u00e9").buffer; })()`,
    ],
  ] as const
) {
  Deno.test(`${kind} is sent in parts`, async () => {
    const run = await responding(`
      await $.respond({ status: 200, headers: { "content-type": "text/plain" }, body: ${stream} });
      $.export("read", true);`);
    const [response] = run.of("respond");
    assert.deepEqual([response?.body, response?.more, response?.immediate], [
      "",
      true,
      false,
    ], run.outcome.error?.stack);
    const parts = run.of("respond_body");
    assert.ok(parts.length >= 3);
    assert.ok(parts.every(({ body }) => body.length <= 48 * 1024));
    assert.deepEqual(
      parts.map(({ more }) => more),
      parts.map((_, at) => at < parts.length - 1),
    );
    assert.equal(bodyOf(run), "x".repeat(LARGE) + "y\u00c3\u00a9");
    assert.equal(run.frames.at(-2)?.type, "export", "the promise waits for the body");
  });
}

Deno.test("a response that cannot be sent is an error, and told", async () => {
  const refused: [given: string, message: RegExp][] = [
    ["undefined", /respond: expected an object/],
    ["'text'", /respond: expected an object/],
    ["{ status: 99 }", /status must be an integer from 100 to 599, not 99/],
    ["{ headers: 'a' }", /headers must be an object/],
    ["{ body: 1n }", /respond: body is not JSON-serializable/],
    [
      "{ body: Readable.from(['a']), immediate: true }",
      /a stream as body cannot be immediate/,
    ],
  ];
  for (const [given, message] of refused) {
    const run = await responding(
      `await $.respond(${given}).catch((error) => $.export("caught", error.message)); return 1;`,
    );
    assert.match(run.of("respond_refused")[0]?.text ?? "none", message, given);
    assert.match(run.of("export")[0]?.value, message);
    assert.deepEqual(run.of("respond"), []);
    assert.equal(run.outcome.value, 1);
  }
});

Deno.test("an error that nobody catches fails the step", async () => {
  const run = await responding("$.respond({ status: 1 });");
  assert.match(run.outcome.error?.message ?? "none", /status must be an integer/);
});

Deno.test("the first response counts, even one that was refused", async () => {
  const twice = await responding(`
    await $.respond({ body: "first" }); await $.respond({ body: "second" }); this.respond({ status: 1 });`);
  assert.deepEqual(twice.of("respond").map(({ body }) => body), ["first"]);
  const told = "$.respond was called more than once; only the first call counts";
  assert.deepEqual(twice.of("log").map(({ level, text }) => [level, text]), [
    ["warn", told],
    ["warn", told],
  ]);
  assert.deepEqual(twice.of("respond_refused"), []);
  const refused = await responding(`
    await $.respond({ status: 1 }).catch(() => {}); await $.respond({ body: "second" });`);
  assert.deepEqual(refused.of("respond"), []);
  assert.equal(refused.of("respond_refused").length, 1);
});

Deno.test("a body that fails on its way is told", async () => {
  const run = await responding(`
    const body = (async function* () { yield "begun"; throw new Error("broken off"); })();
    return await $.respond({ body }).catch((error) => error.message);`);
  assert.deepEqual(run.frames.map(({ type }) => type), [
    "respond",
    "respond_body",
    "respond_refused",
    "outcome",
  ]);
  assert.equal(run.of("respond_refused")[0]?.text, "broken off");
  assert.equal(run.outcome.value, "broken off");
  const objects = await responding(`
    await $.respond({ body: Readable.from([{ a: 1 }]) });`);
  assert.match(objects.outcome.error.message, /the body's stream gave an object/);
});

Deno.test("a body that has not come at the end of the step is told", async () => {
  const run = await responding(`
    $.respond({ body: new PassThrough() });`);
  const [refused] = run.of("respond_refused");
  assert.equal(refused?.text, "the step ended before the response's body was complete");
  assert.equal(run.outcome.error, undefined);
});

Deno.test("an immediate response leaves before the step's code goes on", async () => {
  await using worker = await startComponent(codeStep(`
    await $.respond({ status: 200, body: "now", immediate: true });
    await new Promise(() => {});`));
  worker.invoke({ entry: { kind: "step" }, event: stepInput() });
  const response = await worker.frame(({ type }) => type === "respond");
  assert.equal(response.immediate, true);
});
