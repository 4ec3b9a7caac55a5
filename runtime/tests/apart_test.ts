/** Components in one worker: state kept apart, even for components of the same code. */

import assert from "node:assert/strict";
import { type Frame, SpawnedWorker, startComponents } from "./spawned_worker.ts";

/** Reports its own identity after every kind of wait. */
const WHO = `
  import { EventEmitter, once } from "node:events"; import fs from "node:fs";
  import { env } from "node:process"; import { setTimeout as sleep } from "node:timers/promises";
  let count = 0; const emitter = new EventEmitter();
  const heard = () => { setTimeout(() => emitter.emit("heard"), 1); return once(emitter, "heard"); };
  const waits = [() => new Promise((resolve) => setTimeout(resolve, 1)), () => new Promise((resolve) => setImmediate(resolve)),
    () => new Promise((resolve) => process.nextTick(resolve)), () => null, () => new Promise(queueMicrotask), heard,
    () => sleep(1), () => fs.promises.stat("/tmp"), () => new Promise((resolve) => fs.stat("/tmp", resolve))];
  export default { name: "T", version: "1", type: "action", props: { db: "$.service.db", text: "string" }, async run() {
    const seen = [];
    for (const wait of waits) {
      await wait();
      const who = [process.env.PD_COMPONENT, env.PD_COMPONENT, Deno.env.get("PD_COMPONENT"), this.text].join();
      seen.push(who, __dirname.split("/").at(-1)); console.log(who); console.count(); this.$emit(who);
      this.db.set("who", who); this.db.set("count", ++count);
    }
    return { seen: [...new Set(seen)], kept: this.db.get("kept"), who: this.db.get("who"), count };
  } };`;

function loadOf(name: string): Record<string, unknown> {
  return { env: { PD_COMPONENT: name }, kv: { kept: name } };
}

Deno.test("runs of the same code twice find what is theirs after every wait", async () => {
  await using worker = await startComponents([WHO, WHO], [loadOf("a"), loadOf("b")]);
  const runs = ["a", "b"].map((text, at) =>
    worker.invoke({ component: at + 1, props: { text } })
  );
  await Promise.all(runs.map((id) => worker.outcome(id)));
  const framesOf = (id: number) => worker.frames.filter((frame) => frame.id === id);
  for (const [at, name] of ["a", "b"].entries()) {
    const frames = framesOf(runs[at]!);
    const who = [name, name, name, name].join();
    const folder = at === 0 ? "code" : "2";
    const { value, error } = frames.at(-1)!;
    assert.deepEqual(value, { seen: [who, folder], kept: name, who, count: 9 }, error);
    const texts = frames.filter((frame) => frame.type === "log").map(({ text }) =>
      text
    );
    const counts = Array.from({ length: 9 }, (_, i) => [who, `default: ${i + 1}`]);
    assert.deepEqual(texts, counts.flat());
    const emits = frames.filter((frame) => frame.type === "emit");
    assert.deepEqual(emits.map(({ event }) => event), Array(9).fill(who));
    const writes = frames.filter((frame) => frame.type === "kv");
    assert.deepEqual(
      writes.map(({ component, seq }) => [component, seq]),
      Array.from({ length: 18 }, (_, i) => [at + 1, i + 1]),
    );
  }
  const order = worker.frames.map((frame) => frame.id);
  assert.ok(order.indexOf(runs[1]) < order.lastIndexOf(runs[0]), "they interleave");
});

Deno.test("what a component sets in its environment no other finds", async () => {
  const source = `
    import { env } from "node:process";
    export default { name: "T", version: "1", run(event) {
      if (event) { process.env.KEY = "mine"; env.OTHER = 1; Deno.env.set("THIRD", "x"); delete process.env.GIVEN; __filename = "own"; }
      return [Object.keys(process.env).sort(), { ...Deno.env.toObject() }, process.env.KEY ?? null, "KEY" in process.env,
        Deno.env.has("THIRD"), typeof __filename, __filename === "own"]; } };`;
  const load = { env: { GIVEN: "g" } };
  await using worker = await startComponents([source, source], [load, load]);
  const own = (await worker.run({ component: 1, event: true })).outcome.value;
  const names = ["KEY", "OTHER", "THIRD", "TMPDIR"];
  assert.deepEqual(own, [
    names,
    { KEY: "mine", OTHER: "1", THIRD: "x", TMPDIR: "/tmp" },
    "mine",
    true,
    true,
    "string",
    true,
  ]);
  const other = (await worker.run({ component: 2 })).outcome.value;
  assert.deepEqual(other, [
    ["GIVEN", "TMPDIR"],
    { GIVEN: "g", TMPDIR: "/tmp" },
    null,
    false,
    false,
    "string",
    false,
  ]);
});

Deno.test("packages that are not bundled have an instance for each component", async () => {
  const files = {
    "component.mjs": `
      import counted from "counter"; import { createRequire } from "node:module";
      const required = createRequire(import.meta.url)("counter");
      export default { name: "T", version: "1", type: "action", run() { return [++counted.count, required === counted]; } };`,
    "node_modules/counter/package.json": `{ "name": "counter", "version": "1.0.0" }`,
    "node_modules/counter/index.js": `module.exports = { count: 0 };`,
  };
  await using worker = await SpawnedWorker.start({ files });
  assert.equal((await worker.load(2, { files })).type, "loaded");
  const counts = [];
  for (const component of [1, 1, 2]) {
    counts.push((await worker.run({ component })).outcome.value);
  }
  assert.deepEqual(counts, [[1, true], [2, true], [1, true]]);
});

const STRAY = `
  import { EventEmitter } from "node:events";
  const fail = () => { throw new Error("stray"); };
  const waiting = Promise.withResolvers();
  export default { name: "T", version: "1", async run(event) {
    switch (event) {
      case "rejection": Promise.reject(new Error("stray")); break;
      case "timer": setTimeout(fail, 1); break;
      case "immediate": setImmediate(fail); break;
      case "tick": process.nextTick(fail); break;
      case "microtask": queueMicrotask(fail); break;
      case "emitter": setTimeout(() => new EventEmitter().emit("error", new Error("stray")), 1); break;
      case "exit": try { process.exit(1); } catch {} break;
      case "wait": await waiting.promise; return "waited";
      case "end": waiting.resolve(); return "ended";
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    return "fine"; } };`;

for (
  const event of ["rejection", "timer", "immediate", "tick", "microtask", "emitter"]
    .concat("exit")
) {
  Deno.test(`a stray failure (${event}) is nothing to other components`, async () => {
    await using worker = await startComponents([STRAY, STRAY]);
    const other = worker.invoke({ component: 2, event: "wait" });
    const { outcome } = await worker.run({ component: 1, event });
    assert.match(outcome.error?.message ?? "none", /^stray$|process\.exit\(1\)/);
    assert.match(outcome.error.stack, /\(?component\.mjs:\d+/);
    await worker.run({ component: 2, event: "end" });
    assert.equal((await worker.outcome(other)).value, "waited");
    assert.deepEqual(worker.logs(), []);
  });
}

Deno.test("what a module does outside of runs is its component's", async () => {
  const quiet = STRAY;
  const noisy = `${STRAY}
    console.log("loading"); process.stdout.write("written\\n");
    const failing = setInterval(() => { clearInterval(failing); Promise.reject(new Error("of the module")); }, 5);`;
  await using worker = await startComponents([quiet]);
  const other = worker.invoke({ component: 1, event: "wait" });
  await worker.load(2, { files: { "component.mjs": noisy } });
  await worker.frame((frame) => frame.text?.includes("of the module"));
  const logs = worker.logs().map(({ id, component, text }) => [
    id,
    component,
    text.split("\n")[0],
  ]);
  assert.deepEqual(logs, [
    [null, 2, "loading"],
    [null, 2, "written"],
    [null, 2, "Uncaught Error: of the module"],
  ]);
  await worker.run({ component: 1, event: "end" });
  assert.equal((await worker.outcome(other)).value, "waited");
});

Deno.test("timers of an unloaded component do nothing, those of others go on", async () => {
  const source = `let ticks = 0; const next = [];
    setInterval(() => { ticks++; console.log("tick"); next.splice(0).forEach((resolve) => resolve()); }, 2);
    export default { name: "T", version: "1", type: "action", async run() {
      const before = ticks; while (ticks < before + 5) await new Promise((resolve) => next.push(resolve)); return ticks > before; } };`;
  await using worker = await startComponents([source, source]);
  await worker.frame((frame) => frame.text === "tick" && frame.component === 2);
  worker.send({ type: "unload", component: 2 });
  // Both intervals are of one length: five ticks of the one are some of the other.
  await worker.run({ component: 1 });
  const ofOther = () => worker.logs().filter(({ component }) => component === 2).length;
  const before = ofOther();
  assert.equal((await worker.run({ component: 1 })).outcome.value, true);
  assert.equal(ofOther(), before);
});

Deno.test("a component that cannot be loaded, or never is, holds up no other", async () => {
  await using worker = await startComponents([STRAY]);
  const broken = `console.log("before"); throw new TypeError("broken");`;
  const failed = await worker.load(2, { files: { "component.mjs": broken } });
  assert.equal(failed.type, "load_failed");
  assert.equal(failed.error.message, "broken");
  assert.match(failed.error.stack, /\(?component\.mjs:1:/);
  const files = {
    "component.mjs": `console.log("loading"); await new Promise(() => {});`,
  };
  worker.startLoading(3, await worker.place(3, files));
  await worker.frame((frame) => frame.text === "loading");
  const held = worker.invoke({ component: 3 });
  assert.equal((await worker.run({ component: 1 })).outcome.value, "fine");
  const { outcome } = await worker.run({ component: 2 });
  assert.equal(outcome.error.message, "no component is loaded");
  assert.ok(!worker.frames.some((frame) => frame.id === held));
});

Deno.test("a description names its component", async () => {
  const named = (name: string) =>
    `export default { name: "${name}", version: "1", run() {} };`;
  await using worker = await startComponents([named("one"), named("two")]);
  const described = async (component: number): Promise<Frame> => {
    worker.send({ type: "describe", component });
    return await worker.frame((frame) =>
      frame.type === "described" && frame.component === component
    );
  };
  assert.equal((await described(2)).description.name, "two");
  assert.equal((await described(1)).description.name, "one");
});

Deno.test("answers of data stores reach the run that asked", async () => {
  const source =
    `export default { name: "T", version: "1", type: "action", props: { store: "data_store" },
    async run() { return await this.store.get("k"); } };`;
  await using worker = await startComponents([source, source]);
  const ids = [1, 2].map((component) =>
    worker.invoke({
      component,
      props: { store: { $data_store: `store ${component}` } },
    })
  );
  for (const id of ids.toReversed()) {
    const asked = await worker.frame((frame) =>
      frame.type === "data_store" && frame.id === id
    );
    assert.equal(asked.store, `store ${id}`);
    worker.send({ type: "reply", id, request: asked.request, value: `for ${id}` });
  }
  for (const id of ids) assert.equal((await worker.outcome(id)).value, `for ${id}`);
});

Deno.test("a character in two halves is not completed by another component", async () => {
  const source =
    `export default { name: "T", version: "1", run(half) { process.stdout.write(Uint8Array.of(half)); } };`;
  await using worker = await startComponents([source, source]);
  await worker.run({ component: 1, event: 0xc3 });
  await worker.run({ component: 2, event: 0xa9 });
  await worker.run({ component: 1, event: 0xa9 });
  assert.deepEqual(worker.logs().map(({ text }) => text), ["\ufffd", "é"]);
});

Deno.test("each component has its /tmp until it is unloaded", async () => {
  const component =
    `import fs, { readdirSync } from "node:fs"; import os from "node:os";
    export default { name: "T", version: "1", run(event) {
      if (event) fs.writeFileSync(os.tmpdir() + "/kept", event);
      return [readdirSync("/tmp"), readdirSync("/tmp").map((name) => Deno.readTextFileSync("/tmp/" + name))];
    } };`;
  await using worker = await startComponents([component, component]);
  for (
    const [component, event, found] of [
      [1, "one", [["kept"], ["one"]]],
      [2, "", [[], []]],
      [2, "two", [["kept"], ["two"]]],
      [1, "", [["kept"], ["one"]]],
    ]
  ) {
    const { outcome } = await worker.run({ component: component as number, event });
    assert.deepEqual(outcome.value, found, outcome.error?.stack);
  }
  worker.send({ type: "unload", component: 2 });
  const folders = () =>
    Array.from(Deno.readDirSync(`${worker.folder}/tmp`), ({ name }) => name);
  while (folders().includes(".component-2")) await worker.run({ component: 1 });
  assert.deepEqual(folders(), [".component-1"]);
});

Deno.test("names that Deno chooses are in the component's own /tmp", async () => {
  const making = `
    import fs from "node:fs";
    export default { name: "T", version: "1", async run() {
      const file = await Deno.makeTempFile({ suffix: ".txt" }), folder = Deno.makeTempDirSync();
      Deno.writeTextFileSync(file, "file");
      fs.writeFileSync(folder + "/inside", "folder");
      const below = Deno.makeTempFileSync({ dir: folder });
      return [file, folder, below, fs.readFileSync(file, "utf8"), fs.readdirSync("/tmp").length,
        fs.readdirSync(folder).length];
    } };`;
  await using worker = await startComponents([making, making]);
  for (const component of [1, 2]) {
    const { outcome } = await worker.run({ component });
    const [file, folder, below, ...found] = outcome.value ?? [];
    assert.match(file, /^\/tmp\/[^/.]+\.txt$/, outcome.error?.stack);
    assert.match(folder, /^\/tmp\/[^/.]+$/);
    assert.ok(below.startsWith(`${folder}/`));
    assert.deepEqual(found, ["file", 2, 2]);
  }
});
