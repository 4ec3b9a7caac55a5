// Runs the source with a `this` of its own, without a node: `node --test` or `deno test --allow-env`.
import assert from "node:assert/strict";
import { test } from "node:test";
import component from "./{{file}}";

/** The component's `this`: its methods, its configured props, and `$emit`. */
function instance(props) {
  const emitted = [];
  const $emit = (event, metadata) => emitted.push({ event, ...metadata });
  return { ...component.methods, ...props, $emit, emitted };
}

test("each item becomes an event", async () => {
  const source = instance({
    items: () => Promise.resolve([{ id: 1, title: "First" }, { id: 2 }]),
  });
  await component.run.call(source);
  assert.deepEqual(source.emitted, [
    { event: { id: 1, title: "First" }, id: 1, summary: "First" },
    { event: { id: 2 }, id: 2, summary: "Item 2" },
  ]);
});

test("an answer that is no success is an error", async (t) => {
  t.mock.method(globalThis, "fetch", () => Promise.resolve(new Response("", { status: 503 })));
  const source = instance({ url: "https://example.com/items.json" });
  await assert.rejects(component.run.call(source), /answered 503/);
});
