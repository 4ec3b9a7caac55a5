// Runs the action with a `this` of its own, without a node: `node --test` or `deno test --allow-env`.
import assert from "node:assert/strict";
import { test } from "node:test";
import component from "./{{file}}";

test("it greets and says so", async () => {
  const action = { ...component.methods, name: "Ada", greeting: "Hello" };
  const exported = {};
  const $ = { export: (name, value) => exported[name] = value };
  const returned = await component.run.call(action, { $ });
  assert.deepEqual(returned, { text: "Hello Ada!" });
  assert.deepEqual(exported, { $summary: "Greeted Ada" });
});
