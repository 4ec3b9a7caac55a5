/** A component that patches everything hurts only itself. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";
import { SPIES } from "./spies.ts";

Deno.test("patched built-ins break no frame and see no token", async () => {
  await using worker = await startComponent(`
    const seen = []; const Bytes = Uint8Array;
    const spy = (owner, name) => {
      const native = owner[name];
      owner[name] = function (...args) {
        for (const value of [this, ...args]) if (value instanceof Bytes) seen.push(value[0]);
        return native.apply(this, args);
      };
    };
    for (const name of ["set", "subarray", "slice", "fill"]) {
      spy(Object.getPrototypeOf(Uint8Array.prototype), name);
    }
    spy(TextEncoder.prototype, "encodeInto"); spy(TextEncoder.prototype, "encode");
    spy(Object.getPrototypeOf(Deno.stdout), "writeSync");
    Uint8Array.prototype.constructor = Array;
    JSON.stringify = () => "broken"; JSON.parse = () => ({ type: "broken" });
    Object.prototype.toJSON = () => "polluted"; globalThis.queueMicrotask = () => {};
    globalThis.Uint8Array = class {};
    export default { name: "T", version: "1",
      run(event) { this.$emit(event, { id: 1 }); console.log("log"); return "seen: " + seen.join(); } };`);
  const run = await worker.run({ event: { a: 1 } });
  assert.deepEqual(run.frames.map((frame) => frame.type), ["emit", "log", "outcome"]);
  assert.equal(run.outcome.value, "seen: ");
  assert.equal(worker.noise, "");
});

Deno.test("no accessor and no method of a built-in is handed the token or a run", async () => {
  await using worker = await startComponent(`${SPIES}
    const folder = "${new URL("../worker/", import.meta.url).href}";
    for (const name of ["outbox", "session", "invocation", "key_value", "frame_reader", "scope", "loaded_component"]) {
      for (const [key, Class] of Object.entries(await import(folder + name + ".ts"))) {
        if (Class.prototype) { intrinsics[key] = Class.prototype; }
      }
    }
    for (const stream of ["stdout", "stdin", "stderr"]) {
      if (globalThis.Deno) intrinsics[stream] = getPrototypeOf(Deno[stream]);
    }
    for (const name of ownKeys(intrinsics)) spyOn(name, intrinsics[name]);
    export default { name: "T", version: "1", type: "action", props: { db: "$.service.db", text: "string", ends: "boolean" }, async run() {
      isOff = false;
      console.log("log", this); this.$emit({ text: this.text }, { id: 1, summary: "\\ud800" }); this.db?.set("k", [1]);
      await new Promise((resolve) => setTimeout(resolve, 1));
      this.$emit({ text: "y".repeat(100_000) });
      if (this.ends) { isOff = true; return { seen, calls }; } } };`);
  const props = { text: "x".repeat(200_000) };
  await Promise.all([worker.run({ props }), worker.run({ props })]);
  const { outcome } = await worker.run({ props: { ends: true } });
  assert.deepEqual(outcome.value?.seen, {}, outcome.error?.stack);
  assert.ok(outcome.value.calls > 100, "the spies were called");
});

Deno.test("bytes written past the runtime are noise, not frames", async () => {
  await using worker = await startComponent(`
    import fs from "node:fs";
    export default { name: "T", version: "1", run() {
      try { fs.writeSync(1, "noise {}"); } catch {}
      return "ok"; } };`);
  assert.equal((await worker.run()).outcome.value, "ok");
  assert.equal(worker.noise, "noise {}");
});

Deno.test("runtime modules can be imported but give no way to write frames", async () => {
  const folder = new URL("../worker/", import.meta.url).href;
  await using worker = await startComponent(`
    export default { name: "T", version: "1", async run() {
      const main = await Promise.race([import("${folder}" + "main.ts"), new Promise((resolve) => setTimeout(resolve, 20, {}))]);
      const writers = await import("${folder}" + "frame_writer.ts");
      return [Object.keys(main), Object.keys(writers)]; } };`);
  assert.deepEqual((await worker.run()).outcome.value, [[], ["createFrameWriter"]]);
});

Deno.test("strings with lone surrogates arrive replaced", async () => {
  await using worker = await startComponent(`
    export default { name: "T", version: "1", run() {
      console.log("a\\ud800"); this.$emit({ s: "\\ud800" }, { id: "\\udfff", summary: "\\ud800" });
      throw new Error("\\ud800"); } };`);
  const run = await worker.run();
  assert.equal(run.of("log")[0]!.text, "a\ufffd");
  assert.deepEqual(run.of("emit")[0]!.event, { s: "\ufffd" });
  assert.deepEqual(run.of("emit")[0]!.options, { id: "\ufffd", summary: "\ufffd" });
  assert.equal(run.outcome.error.message, "\ufffd");
});
