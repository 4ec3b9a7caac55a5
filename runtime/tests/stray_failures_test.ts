/** Failures outside the awaited path and calls that would end the process. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";

const SOURCE = `
  import { EventEmitter } from "node:events";
  import { exit } from "node:process";
  import { setTimeout as sleep } from "node:timers/promises";
  const module = new EventEmitter();
  export default { name: "T", version: "1", async run(event) {
    switch (event) {
      case "rejection": Promise.reject(new Error("stray")); break;
      case "timer": setTimeout(() => { throw new Error("stray"); }, 1); break;
      case "tick": process.nextTick(() => { throw new Error("stray"); }); break;
      case "emitter": setTimeout(() => new EventEmitter().emit("error", new Error("stray")), 1); break;
      case "awaited": throw new Error("awaited");
      case "at once": Promise.reject(new Error("stray")); return "fine";
      case "not awaited": (async () => { await null; throw new Error("stray"); })(); return "fine";
      case "late": sleep(5).then(() => { throw new Error("too late"); }); return;
      case "exit": try { process.exit(1); } catch {} this.$emit("after"); break;
      case "named exit": try { exit(2); } catch {} break;
      case "Deno.exit": Deno.exit(4); break;
      case "abort": process.abort(); break;
      case "close": close(); break;
    }
    await sleep(10);
    return "fine";
  } };`;

for (
  const event of ["rejection", "timer", "tick", "emitter", "at once", "not awaited"]
) {
  Deno.test(`a stray failure (${event}) fails its run and no other`, async () => {
    await using worker = await startComponent(SOURCE);
    const other = worker.invoke({ event: "nothing" });
    const { outcome } = await worker.run({ event });
    assert.equal(outcome.error?.message, "stray");
    assert.match(outcome.error.stack, /component\.mjs/);
    assert.equal((await worker.outcome(other)).value, "fine");
  });
}

Deno.test("what the run itself throws wins", async () => {
  await using worker = await startComponent(SOURCE);
  assert.equal(
    (await worker.run({ event: "awaited" })).outcome.error.message,
    "awaited",
  );
});

Deno.test("a failure after the end is logged, and the worker lives", async () => {
  await using worker = await startComponent(SOURCE);
  await worker.run({ event: "late" });
  const log = await worker.frame((frame) => frame.type === "log");
  assert.deepEqual([log.id, log.level], [null, "error"]);
  assert.match(log.text, /failed after the run had ended: Error: too late/);
  assert.equal((await worker.run()).outcome.value, "fine");
});

const EXITS: [event: string, message: string][] = [
  ["exit", "process.exit(1) was called"],
  ["named exit", "process.exit(2) was called"],
  ["Deno.exit", "Deno.exit(4) was called"],
  ["abort", "process.abort() was called"],
  // A browser's, which Node does not have.
  ["close", "close is not defined"],
];

Deno.test("exiting ends the run with an error, even when swallowed", async () => {
  await using worker = await startComponent(SOURCE);
  for (const [event, message] of EXITS) {
    const run = await worker.run({ event });
    assert.equal(run.outcome.error?.message, message);
    assert.deepEqual(run.of("emit"), []);
  }
  assert.equal((await worker.run({ event: "nothing" })).outcome.value, "fine");
});
