/**
 * Components in one worker: shared state, and the harm that one can do to another.
 *
 * They belong to one owner: the process is the boundary between owners. The harm shown
 * here to be possible decides which components may share a worker.
 */

import assert from "node:assert/strict";
import { startComponents } from "./spawned_worker.ts";
import { SPIES } from "./spies.ts";

const WORKER = new URL("../worker/", import.meta.url).href;

/** A component whose run evaluates its event. */
const EVALUATE = `
  import events from "node:events"; import fs from "node:fs"; import http from "node:http";
  export default { name: "T", version: "1", props: { db: "$.service.db" },
    async run(event) { return await eval(event); } };`;

const SHARED: [what: string, left: string, found: string, value: unknown][] = [
  ["the global object", "globalThis.left = 1", "left", 1],
  [
    "patched built-ins",
    "Array.prototype.first = function () { return this[0]; }; 0",
    "[7].first()",
    7,
  ],
  [
    "built-in modules",
    "events.defaultMaxListeners = 99",
    "events.defaultMaxListeners",
    99,
  ],
  [
    "connections kept by Node's agents",
    "http.globalAgent.left = 1",
    "http.globalAgent.left",
    1,
  ],
  [
    "the time zone",
    `process.env.TZ = "Asia/Tokyo"`,
    "[new Date(0).getHours(), process.env.TZ ?? null]",
    [9, null],
  ],
  [
    "events of the process",
    `process.on("left", () => globalThis.heard = true); 0`,
    `process.emit("left"); heard`,
    true,
  ],
  ["the process", "globalThis.pid = process.pid", "pid === process.pid", true],
  [
    "the folder that the process began in",
    "globalThis.cwd = process.cwd()",
    "cwd === process.cwd()",
    true,
  ],
];

for (const [what, left, found, value] of SHARED) {
  Deno.test(`components share ${what}`, async () => {
    await using worker = await startComponents([EVALUATE, EVALUATE]);
    const { outcome } = await worker.run({ component: 1, event: left });
    assert.equal(outcome.error, undefined);
    const run = await worker.run({ component: 2, event: found });
    assert.deepEqual(run.outcome.value, value, run.outcome.error?.stack);
  });
}

Deno.test("a listener for rejections hears those of all, which fail their runs all the same", async () => {
  const listen =
    `addEventListener("unhandledrejection", (event) => { globalThis.heard = event.reason.message; }); 0`;
  await using worker = await startComponents([EVALUATE, EVALUATE]);
  await worker.run({ component: 1, event: listen });
  const event =
    `Promise.reject(new Error("theirs")); new Promise((resolve) => setTimeout(resolve, 20))`;
  const { outcome } = await worker.run({ component: 2, event });
  assert.equal(outcome.error?.message, "theirs");
  const heard = await worker.run({ component: 1, event: "heard" });
  assert.equal(heard.outcome.value, "theirs");
});

Deno.test("the processor is one: a loop of one component holds up the others", async () => {
  await using worker = await startComponents([EVALUATE, EVALUATE]);
  const loop =
    `this.$emit("begun"); const end = performance.now() + 100; while (performance.now() < end); 0`;
  const looping = worker.invoke({ component: 1, event: loop });
  const other = worker.invoke({ component: 2, event: "0" });
  await worker.outcome(other);
  assert.ok(worker.frames.some(({ id, type }) => id === looping && type === "emit"));
  await worker.outcome(looping);
  const [first] = worker.frames.filter(({ type, id }) =>
    id === other || type === "emit"
  );
  assert.equal(first?.id, looping);
});

Deno.test("no component is handed the token, or a run of another by the runtime", async () => {
  const spying = `${SPIES}
    for (const name of ["outbox", "session", "invocation", "key_value", "frame_reader", "scope", "loaded_component"]) {
      for (const [key, Class] of Object.entries(await import("${WORKER}" + name + ".ts"))) {
        if (Class.prototype) { intrinsics[key] = Class.prototype; }
      }
    }
    for (const name of ownKeys(intrinsics)) spyOn(name, intrinsics[name]);
    isOff = false;
    export default { name: "T", version: "1", type: "action", run() { isOff = true; return { seen, calls }; } };`;
  const spiedOn = `
    console.log("loading");
    export default { name: "T", version: "1", props: { db: "$.service.db" }, async run(event) {
      console.log("log", process.env.TMPDIR); this.$emit({ event }, { id: 1 }); this.db.set("k", [1]);
      await new Promise((resolve) => setTimeout(resolve, 1)); return "x".repeat(100_000); } };`;
  await using worker = await startComponents([spying, spiedOn, spiedOn]);
  await Promise.all(
    [2, 3].map((component) => worker.run({ component, event: component })),
  );
  worker.send({ type: "unload", component: 3 });
  const { outcome } = await worker.run({ component: 1 });
  assert.deepEqual(outcome.value?.seen, {}, outcome.error?.stack);
  assert.ok(outcome.value.calls > 100, "the spies were called");
});

Deno.test("with the runtime's own modules a component speaks for no other", async () => {
  const forging = `
    const { addComponent, ComponentScope, currentComponent, currentInvocation, runWithin } = await import("${WORKER}scope.ts");
    export default { name: "T", version: "1", props: { db: "$.service.db" }, run(other) {
      const own = currentInvocation(), scope = new ComponentScope(2);
      for (const [name, value] of [["id", other], ["component", 2]]) {
        try { own[name] = value; } catch {}
        Object.defineProperty(own, name, { value });
      }
      addComponent(scope);
      runWithin(scope, undefined, () => console.log("forged"));
      Object.defineProperty(currentComponent(), "number", { value: 2 });
      runWithin(currentComponent(), undefined, () => console.log("forged"));
      runWithin(scope, own, () => { console.log("forged"); this.$emit("forged"); this.db.set("forged", 1); });
      try { own.respond({ status: 200, body: "forged" }); } catch {}
    } };`;
  await using worker = await startComponents([forging, EVALUATE]);
  const other = worker.invoke({
    component: 2,
    event: `this.$emit("mine"); new Promise((resolve) => globalThis.go = resolve)`,
  });
  await worker.frame(({ type, id }) => type === "emit" && id === other);
  const { outcome } = await worker.run({ component: 1, event: other });
  assert.equal(outcome.error, undefined, outcome.error?.stack);
  const end = await worker.run({ component: 2, event: `go("mine"); 0` });
  assert.equal(end.outcome.value, 0);
  assert.equal((await worker.outcome(other)).value, "mine");
  const ofOthers = worker.frames.filter(({ id, component }) =>
    id === other || component === 2
  );
  assert.doesNotMatch(JSON.stringify(ofOthers), /forged/);
  assert.match(JSON.stringify(worker.frames), /forged/);
});

Deno.test("through a patched built-in a component reaches the this of another", async () => {
  const patching = `
    const { bind } = Function.prototype;
    Function.prototype.bind = function (receiver, ...args) {
      if (receiver?.db) { receiver.$emit("theirs"); receiver.db.set("theirs", receiver.db.get("kept")); }
      return bind.call(this, receiver, ...args); };
    export default { name: "T", version: "1", run() {} };`;
  const victim =
    `export default { name: "T", version: "1", props: { db: "$.service.db" },
    methods: { greet() { return "hello"; } }, run() { return this.greet(); } };`;
  await using worker = await startComponents([patching, victim], [{}, {
    kv: { kept: 7 },
  }]);
  const run = await worker.run({ component: 2 });
  assert.equal(run.of("emit")[0]?.event, "theirs");
  assert.deepEqual(run.of("kv").map(({ key, value }) => [key, value]), [["theirs", 7]]);
});

Deno.test("a component that imports the module of another changes what that does", async () => {
  const victim = `export default { name: "T", version: "1", run() { return "own"; } };`;
  const changing = `export default { name: "T", version: "1", async run(entry) {
    const { default: other } = await import(entry); other.run = () => "changed"; } };`;
  await using worker = await startComponents([changing, victim]);
  assert.equal((await worker.run({ component: 2 })).outcome.value, "own");
  const event = `file://${worker.folder}/beside/2/component.mjs`;
  await worker.run({ component: 1, event });
  assert.equal((await worker.run({ component: 2 })).outcome.value, "changed");
});

const FACTORY = {
  "component.mjs":
    `(function () { "use strict"; const { fs, process, __headwater_meta } = arguments[0]; return (async () => {
  await 0;
  let calls = 0;
  if (process.env.WRONG) throw new Error("it is " + process.env.WRONG);
  var component = { name: "T", version: "1", async run() { return [++calls, typeof fs.existsSync, __headwater_meta.url, (await import("fs")).existsSync === fs.existsSync]; } };
  return { default: component };
});
})`,
  "imports.mjs": `import fs from "node:fs";
import process from "node:process";
console.log("imported");
const __headwater_meta = import.meta;
export { fs, process, __headwater_meta };`,
};

Deno.test("components of one factory share its module, and have all state in it apart", async () => {
  await using worker = await startComponents([EVALUATE]);
  const entry = await worker.place(2, FACTORY);
  const envs = [{}, { WRONG: "wrong" }, {}];
  for (const [at, env] of envs.entries()) {
    worker.startLoading(at + 2, entry, { is_factory: true, env });
  }
  const ends = await Promise.all(
    envs.map((_, at) =>
      worker.frame(({ type, component }) =>
        type.startsWith("load") && component === at + 2
      )
    ),
  );
  assert.deepEqual(ends.map(({ type }) => type), ["loaded", "load_failed", "loaded"]);
  assert.match(
    ends[1]?.error.stack,
    /^Error: it is wrong\n {4}at component\.mjs:4:32$/,
  );
  const values = [];
  for (const component of [2, 4, 2]) {
    values.push((await worker.run({ component, event: 1 })).outcome.value);
  }
  const seen = ["function", entry, true];
  assert.deepEqual(values, [[1, ...seen], [1, ...seen], [2, ...seen]]);
  assert.equal(worker.logs().length, 1, "it was imported once");
});

Deno.test("stacks of a factory name the lines as they were written", async () => {
  await using worker = await startComponents([EVALUATE]);
  // Line 4 of the script is line 12 of `written.ts`.
  const map = { version: 3, sources: ["written.ts"], names: [], mappings: ";;;AAWA" };
  const files = { ...FACTORY, "component.mjs.map": JSON.stringify(map) };
  const entry = await worker.place(2, files);
  worker.startLoading(2, entry, { is_factory: true, env: { WRONG: "wrong" } });
  const failed = await worker.frame(({ type }) => type === "load_failed");
  assert.match(failed.error.stack, /^Error: it is wrong\n {4}at written\.ts:12:1$/);
});

Deno.test("what one component leaves is not taken from the others of its factory", async () => {
  await using worker = await startComponents([EVALUATE]);
  const entry = await worker.place(2, FACTORY);
  for (const component of [2, 3]) {
    worker.startLoading(component, entry, { is_factory: true });
    await worker.frame((frame) =>
      frame.type === "loaded" && frame.component === component
    );
  }
  worker.send({ type: "unload", component: 2 });
  const left = await worker.run({ component: 3 });
  assert.deepEqual(left.outcome.value, [1, "function", entry, true]);
  const path = JSON.stringify(new URL(entry).pathname);
  const event = `fs.readFileSync(${path}, "utf8")`;
  const read = await worker.run({ component: 1, event });
  assert.equal(read.outcome.value, FACTORY["component.mjs"], read.outcome.error?.stack);
});
