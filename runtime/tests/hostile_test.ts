/** A component that patches everything hurts only itself. */

import assert from "node:assert/strict";
import { startComponent, TOKEN } from "./spawned_worker.ts";

/**
 * Replaces every method and accessor of the intrinsics that lie between a frame and its
 * bytes. `seen` tells which of them was handed the token or an object of the runtime's.
 */
const SPIES = `
  const { apply, ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Reflect;
  const Typed = getPrototypeOf(Uint8Array.prototype), Native = Uint8Array, Texts = String;
  const getter = (owner, name) => { const { get } = getOwnPropertyDescriptor(owner, name); return (self) => apply(get, self, []); };
  const bufferOf = getter(Typed, "buffer"), sizeOf = getter(ArrayBuffer.prototype, "byteLength"), includes = Texts.prototype.includes;
  const isBuffer = (value) => { try { sizeOf(value); return true; } catch { return false; } };
  const token = "${TOKEN}", bytes = [];
  for (let i = 0; i < token.length; i += 2) bytes[i / 2] = parseInt(token.slice(i, i + 2), 16);
  const holdsToken = (memory) => {
    const view = new Native(memory), end = sizeOf(memory) - 16;
    for (let at = 0; at <= end; at++) {
      let same = 0;
      while (same < 16 && view[at + same] === bytes[same]) same++;
      if (same === 16) return true;
    }
    const hex = 32;
    for (let at = 0; at <= end + 16 - hex; at++) {
      let same = 0;
      while (same < hex && view[at + same] === token.codePointAt(same)) same++;
      if (same === hex) return true;
    }
    return false;
  };
  const seen = {}; let isOff = true, isLooking = false, calls = 0;
  const isOurs = (value) => { try { return "failLater" in value || "writeNow" in value || "dataStore" in value && "exited" in value; } catch { return false; } };
  const look = (where, value) => {
    if (isOff || isLooking) return;
    isLooking = true;
    calls++;
    try {
      if (typeof value === "string") { if (apply(includes, value, [token])) seen[where] = "hex"; return; }
      if (typeof value !== "object" || value === null) return;
      if (isOurs(value)) seen[where] = "runtime";
      let memory;
      try { memory = bufferOf(value); } catch { if (isBuffer(value)) memory = value; }
      if (memory !== undefined && holdsToken(memory)) seen[where] = "bytes";
    } finally { isLooking = false; }
  };
  const watched = (where, native) => function (...args) {
    look(where, this);
    for (let i = 0; i < args.length; i++) look(where, args[i]);
    const value = apply(native, this, args);
    look(where, value);
    return value;
  };
  const spyOn = (name, owner) => {
    for (const key of ownKeys(owner)) {
      const descriptor = getOwnPropertyDescriptor(owner, key);
      if (key === "constructor" || !descriptor.configurable && !descriptor.writable) continue;
      // A class has more than being called.
      if (name === "global" && !/^[a-z]/.test(Texts(key))) continue;
      const where = name + "." + Texts(key);
      for (const kind of ["get", "set", "value"]) {
        if (typeof descriptor[kind] === "function") descriptor[kind] = watched(where, descriptor[kind]);
      }
      try { defineProperty(owner, key, descriptor); } catch {}
    }
  };
  const iteratorOf = (value) => getPrototypeOf(value[Symbol.iterator]());
  const intrinsics = { Typed, Bytes: Uint8Array.prototype, Memory: ArrayBuffer.prototype, DataView: DataView.prototype, JSON,
    TextEncoder: TextEncoder.prototype, TextDecoder: TextDecoder.prototype, Promise: Promise.prototype, PromiseClass: Promise,
    Array: Array.prototype, Map: Map.prototype, Set: Set.prototype, WeakMap: WeakMap.prototype, String: Texts.prototype,
    RegExp: RegExp.prototype, Function: Function.prototype, Object, Reflect, ArrayIterator: iteratorOf([]), MapIterator: iteratorOf(new Map()),
    Encoded: Uint8Array, global: globalThis };
`;

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
    for (const name of ["outbox", "session", "invocation", "key_value", "frame_reader"]) {
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
