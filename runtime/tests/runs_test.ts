/** How runs end, and that one does not disturb another. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";

function source(body: string, before = ""): string {
  return `import { setTimeout as sleep } from "node:timers/promises";
    ${before}
    export default { name: "T", version: "1", props: { db: "$.service.db" },
      async run(event) { ${body} } };`;
}

Deno.test("concurrent runs keep their logs and emits apart", async () => {
  await using worker = await startComponent(source(`
    for (let i = 0; i < 3; i++) { console.log(event); await sleep(2); this.$emit(event); }
    return event;`));
  const ids = [1, 2, 3, 4].map((event) => worker.invoke({ event }));
  await Promise.all(ids.map((id) => worker.outcome(id)));
  for (const id of ids) {
    const frames = worker.frames.filter((frame) => frame.id === id);
    assert.equal(frames.length, 7);
    for (const frame of frames) {
      assert.equal(String(frame.text ?? frame.event ?? frame.value), String(id));
    }
  }
});

Deno.test("anything thrown is an error with a name, a message and a stack", async () => {
  await using worker = await startComponent(source(`
    class ConfigurationError extends Error { name = "ConfigurationError"; }
    switch (event) {
      case "error": throw Object.assign(new ConfigurationError("bad"), { code: "E_X" });
      case "string": throw "text";
      case "undefined": throw undefined;
      case "object": throw { message: "m", code: 7, name: "Custom" };
      case "bare": throw { a: { b: 1 } };
      case "proxy": throw new Proxy({}, { get() { throw 1; } });
    }`));
  const errorOf = async (event: string) => (await worker.run({ event })).outcome.error;
  const error = await errorOf("error");
  assert.deepEqual([error.name, error.message, error.code], [
    "ConfigurationError",
    "bad",
    "E_X",
  ]);
  assert.match(error.stack, /\(component\.mjs:\d+:\d+\)$/);
  assert.doesNotMatch(error.stack, /file:|worker\/|async_hooks/);
  assert.equal((await errorOf("string")).message, "text");
  assert.equal((await errorOf("undefined")).message, "undefined was thrown");
  const { name, message, code } = await errorOf("object");
  assert.deepEqual([name, message, code], ["Custom", "m", 7]);
  assert.match((await errorOf("bare")).message, /a: \{ b: 1 \}/);
  assert.match((await errorOf("proxy")).message, /cannot be read/);
});

Deno.test("a returned value that is no JSON is dropped for a source", async () => {
  await using worker = await startComponent(source("return 1n;"));
  assert.deepEqual(Object.keys((await worker.run()).outcome), ["type", "id"]);
});

Deno.test("effects after the end do nothing but warn", async () => {
  await using worker = await startComponent(source(`
    (async () => { await sleep(5); this.$emit(1); this.db.set("k", 1); this.respond({ status: 200 });
      console.log("late"); })();`));
  await worker.run();
  await worker.frame((frame) => frame.text === "late");
  assert.deepEqual(
    worker.frames.filter((frame) => ["emit", "kv", "respond"].includes(frame.type)),
    [],
  );
  const late = worker.logs();
  assert.ok(late.every((frame) => frame.id === null));
  assert.deepEqual(late.slice(0, 3).map((frame) => frame.text.split(" was ")[0]), [
    "$emit",
    "db.set",
    "respond",
  ]);
});

Deno.test("timers of a run end with it, those of others and of the module go on", async () => {
  await using worker = await startComponent(source(
    `if (event === "wait") { await new Promise((resolve) => setTimeout(resolve, 400)); return "waited"; }
     if (event === "count") return ticks;
     setInterval(() => { ticks.run++; }, 200); setTimeout(() => { ticks.run++; }, 200);
     nodeTimers.setTimeout(() => { ticks.run++; }, 200);`,
    `import nodeTimers from "node:timers"; const ticks = { run: 0, module: 0 };
     setInterval(() => { ticks.module++; }, 1);`,
  ));
  const waiting = worker.invoke({ event: "wait" });
  await worker.run({ event: "start" });
  assert.equal((await worker.outcome(waiting)).value, "waited");
  const { value } = (await worker.run({ event: "count" })).outcome;
  assert.equal(value.run, 0);
  assert.ok(value.module > 0);
});

Deno.test("what was emitted before an endless loop has left the worker", async () => {
  await using worker = await startComponent(source(`
    console.log("before"); this.$emit(1); const end = Date.now() + 300; while (Date.now() < end);`));
  const started = performance.now();
  const id = worker.invoke();
  await worker.frame((frame) => frame.type === "emit");
  assert.ok(!worker.frames.some((frame) => frame.type === "outcome"));
  assert.ok(performance.now() - started < 5000);
  await worker.outcome(id);
});

Deno.test("the worker ends when its host has gone", async () => {
  const worker = await startComponent(source("await new Promise(() => {});"));
  await worker.frame((frame) => frame.type === "loaded");
  worker.invoke();
  assert.equal((await worker.stop()).code, 0);
});

Deno.test("a host that breaks the protocol finds the worker ended with a failure", async () => {
  const worker = await startComponent(source(""), {
    type: "hello",
    version: 1,
    token: "",
  });
  assert.equal((await worker.stop()).code, 1);
});
