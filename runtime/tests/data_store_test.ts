/** `data_store` props: their calls and the host's answers. */

import assert from "node:assert/strict";
import { type Frame, type SpawnedWorker, startComponent } from "./spawned_worker.ts";

const PROPS = { store: { $data_store: "orders" } };

function component(body: string): string {
  return `
    const app = { type: "app", app: "data_stores", propDefinitions: {
      dataStore: { type: "data_store", label: "Data Store" },
      key: { type: "string", options({ store }) { return store.keys(); } } } };
    export default { name: "T", version: "1",
      props: { app, store: { propDefinition: [app, "dataStore"] },
        key: { propDefinition: [app, "key", ({ store }) => ({ store })] } },
      async run() { ${body} } };`;
}

/** Answers requests, in the order in which they come, until the run has ended. */
async function runWith(
  worker: SpawnedWorker,
  answers: Record<string, unknown>[],
  invocation: Record<string, unknown> = {},
): Promise<{ outcome: Frame; asked: Record<string, unknown>[] }> {
  const id = worker.invoke({ props: PROPS, ...invocation });
  for (const [index, answer] of answers.entries()) {
    const request = index + 1;
    await worker.frame((frame) => frame.id === id && frame.request === request);
    worker.send({ type: "reply", id, request, ...answer });
  }
  const outcome = await worker.outcome(id);
  const asked = worker.frames
    .filter((frame) => frame.type === "data_store" && frame.id === id)
    .map(({ type: _type, id: _id, ...request }) => request);
  return { outcome, asked };
}

Deno.test("every call is one request, and settles with its answer", async () => {
  await using worker = await startComponent(component(`
    const { get, set } = this.store;
    return [await get("a"), await get("a", "fallback"), await get(7),
      await set("k", { when: new Date(0), "é": 1 }, { ttl: 60 }), await set("u", undefined),
      await this.store.set("n", 1, { ttl: 0 }), await this.store.has("k"),
      await this.store.setTtl("k", 5), await this.store.setTtl("k", null),
      await this.store.delete("k"), await this.store.clear(), await this.store.size()];`));
  const answers = [{}, {}, { value: { deep: [1] } }, {}, {}, {}, { value: true }];
  const last = [{ value: true }, { value: false }, { value: true }, {}, { value: 3 }];
  const { outcome, asked } = await runWith(worker, [...answers, ...last]);
  const nothing = null;
  assert.deepEqual(outcome.value, [
    ...[nothing, "fallback", { deep: [1] }, nothing, nothing, nothing, true],
    ...[true, false, true, nothing, 3],
  ]);
  const store = "orders";
  assert.deepEqual(asked, [
    { request: 1, store, op: "get", key: "a" },
    { request: 2, store, op: "get", key: "a" },
    { request: 3, store, op: "get", key: "7" },
    {
      ...{ request: 4, store, op: "set", key: "k" },
      value: { when: "1970-01-01T00:00:00.000Z", "é": 1 },
      ttl: 60,
    },
    { request: 5, store, op: "set", key: "u", value: null },
    { request: 6, store, op: "set", key: "n", value: 1 },
    { request: 7, store, op: "has", key: "k" },
    { request: 8, store, op: "set_ttl", key: "k", ttl: 5 },
    { request: 9, store, op: "set_ttl", key: "k" },
    { request: 10, store, op: "delete", key: "k" },
    { request: 11, store, op: "clear" },
    { request: 12, store, op: "size" },
  ]);
});

Deno.test("listings are read page by page", async () => {
  await using worker = await startComponent(component(`
    const pairs = [];
    for await (const [key, value] of this.store) pairs.push([key, value]);
    const keys = await this.store.keys();
    const first = [];
    for await (const key of this.store.keys()) { first.push(key); break; }
    return { pairs, keys, first, entries: await this.store.entries(),
      values: await this.store.values().then((values) => values.length) };`));
  const pages = [
    { value: { items: [["a", 1], ["b", null]], after: "b" } },
    { value: { items: [["c", [3]]], after: "c" } },
    { value: { items: [] } },
  ];
  const keys = [{ value: { items: ["a"], after: "a" } }, { value: { items: ["b"] } }];
  const { outcome, asked } = await runWith(
    worker,
    [...pages, ...keys, keys[0]!, ...pages, ...pages],
  );
  const pairs = [["a", 1], ["b", null], ["c", [3]]];
  assert.deepEqual(outcome.value, {
    pairs,
    keys: ["a", "b"],
    first: ["a"],
    entries: pairs,
    values: 3,
  });
  assert.deepEqual(asked.slice(0, 4).map(({ op, key }) => [op, key]), [
    ["entries", undefined],
    ["entries", "b"],
    ["entries", "c"],
    ["keys", undefined],
  ]);
});

Deno.test("options may come from the keys of a store", async () => {
  await using worker = await startComponent(component(""));
  const { outcome } = await runWith(worker, [{ value: { items: ["a", "b"] } }], {
    entry: { kind: "options", prop: "key" },
  });
  assert.deepEqual(outcome.value, { options: ["a", "b"], is_whole: true });
});

Deno.test("what the host refuses is thrown where it was asked", async () => {
  await using worker = await startComponent(component(
    `await this.store.set("k", 1);`,
  ));
  const { outcome } = await runWith(worker, [{ error: "it is full" }]);
  assert.equal(outcome.error.message, 'data store "orders": it is full');
  assert.match(outcome.error.stack, /at async .*component\.mjs:8/);
});

Deno.test("what cannot be kept is refused without asking", async () => {
  await using worker = await startComponent(component(`
    const messages = [];
    for (const call of [() => this.store.get(undefined), () => this.store.set({}, 1),
        () => this.store.set("k", 1n), () => this.store.set("k", "x".repeat(1 << 20)),
        () => this.store.set("k", 1, { ttl: "soon" }), () => this.store.setTtl("k", -1)]) {
      try { await call(); } catch (error) { messages.push(error.message); }
    }
    return messages;`));
  const { outcome, asked } = await runWith(worker, []);
  const expected = [
    /key must be a string, not undefined/,
    /key must be a string, not object/,
    /data store "orders": the value of "k" is not JSON-serializable/,
    /the value of "k" is 1048578 bytes; a record may have at most 1048576/,
    /ttl must be a number of seconds, not soon/,
    /ttl must be a number of seconds, not -1/,
  ];
  assert.equal(outcome.value.length, expected.length);
  for (const [index, message] of expected.entries()) {
    assert.match(outcome.value[index], message);
  }
  assert.deepEqual(asked, []);
});

Deno.test("runs side by side get their own answers, and ended ones ask nothing", async () => {
  await using worker = await startComponent(component(`
    globalThis.left ??= this.store;
    return [await this.store.get("k"),
      await globalThis.left.get("k").catch((error) => error.message)];`));
  const [first, second] = [
    worker.invoke({ props: PROPS }),
    worker.invoke({ props: { store: { $data_store: "other" } } }),
  ];
  const reply = async (id: number, request: number, value: string) => {
    await worker.frame((frame) => frame.id === id && frame.request === request);
    worker.send({ type: "reply", id, request, value });
  };
  await reply(second, 1, "of the second");
  await reply(first, 2, "as left");
  await reply(first, 1, "of the first");
  await reply(first, 3, "of the first again");
  const asked = (id: number) =>
    worker.frames.filter((frame) => frame.type === "data_store" && frame.id === id);
  assert.deepEqual((await worker.outcome(second)).value, ["of the second", "as left"]);
  assert.deepEqual((await worker.outcome(first)).value, [
    "of the first",
    "of the first again",
  ]);
  assert.deepEqual(asked(second).map(({ store }) => store), ["other"]);
  const late = worker.invoke({ props: PROPS });
  await reply(late, 1, "late");
  assert.match((await worker.outcome(late)).value[1], /after the run had ended/);
});

Deno.test("an optional store that is not configured is undefined", async () => {
  await using worker = await startComponent(component("return typeof this.store;"));
  const { outcome } = await worker.run({ props: {} });
  assert.equal(outcome.value, "undefined");
});
