/** Large values of `steps` that come as files. */

import assert from "node:assert/strict";
import { type SpawnedWorker, startComponent } from "./spawned_worker.ts";
import {
  answersOf,
  codeStep,
  expression,
  runStep,
  stepInput,
} from "./workflow_host.ts";

function fileOf(worker: SpawnedWorker, name: string, value: unknown): string {
  const path = `${worker.folder}/tmp/${name}.json`;
  Deno.writeTextFileSync(path, JSON.stringify(value));
  return path;
}

Deno.test("values are read when code asks for them, and are plain from then on", async () => {
  await using worker = await startComponent(codeStep(`
    const { large, before } = steps;
    const kinds = () => ["$return_value", "rows.all"].map((name) => {
      const { get, enumerable } = Object.getOwnPropertyDescriptor(before, name);
      return [typeof get, enumerable];
    });
    const at_first = kinds();
    const rows = before["rows.all"];
    rows.push("more");
    before.$return_value = "assigned";
    return { at_first, then: kinds(), rows: before["rows.all"], assigned: before.$return_value,
      same: steps.large === large, large, names: Object.keys(before) };`));
  const lazy = {
    "large": fileOf(worker, "large", { $return_value: [1] }),
    "before.$return_value": fileOf(worker, "value", "never read"),
    "before.rows.all": fileOf(worker, "rows", ["row"]),
  };
  const steps = { trigger: { event: {} }, before: { kept: 1 } };
  const { outcome } = await runStep(worker, { steps, lazy });
  assert.deepEqual(outcome.value, {
    at_first: [["function", true], ["function", true]],
    then: [["undefined", true], ["undefined", true]],
    rows: ["row", "more"],
    assigned: "assigned",
    same: true,
    large: { $return_value: [1] },
    names: ["kept", "$return_value", "rows.all"],
  }, outcome.error?.stack);
});

Deno.test("copies and JSON of `steps` have them, and each run reads anew", async () => {
  await using worker = await startComponent(codeStep(`
    const copy = { ...steps.before, own: 1 };
    steps.before.$return_value.changed = true;
    return { copy, json: JSON.parse(JSON.stringify(steps)).before };`));
  const lazy = { "before.$return_value": fileOf(worker, "value", { a: 1 }) };
  for (let run = 0; run < 2; run++) {
    const { outcome } = await runStep(worker, { lazy });
    assert.deepEqual(outcome.value, {
      copy: { $return_value: { a: 1, changed: true }, own: 1 },
      json: { $return_value: { a: 1, changed: true } },
    }, outcome.error?.stack);
  }
});

Deno.test("a large event is read for expressions that use it, and only for those", async () => {
  await using worker = await startComponent(codeStep("return 1;"));
  const lazy = { "trigger.event": fileOf(worker, "event", { name: "large" }) };
  const steps = { trigger: { context: {} }, before: { $return_value: 2 } };
  const given = { steps, lazy };
  const used = [{ value: expression("event.name") }, {
    value: expression("steps.trigger.event.name"),
  }];
  assert.deepEqual(await answersOf(worker, used, given), ["large", "large"]);
  Deno.removeSync(lazy["trigger.event"]);
  const unused = [{ value: expression("steps.before.$return_value") }];
  assert.deepEqual(await answersOf(worker, unused, given), [2]);
  await assert.rejects(
    answersOf(worker, used, given),
    /the value of steps\.trigger\.event cannot be read/,
  );
});

Deno.test("keys of values reach no prototype", async () => {
  await using worker = await startComponent(codeStep(`
    return [Object.keys(steps.before), ({}).polluted ?? null, steps.before.polluted ?? null];`));
  const event = JSON.stringify(
    stepInput({ lazy: { "before.x": fileOf(worker, "x", 1) } }),
  )
    .replace(`"trigger":`, `"before":{"__proto__":{"polluted":1}},"trigger":`);
  const { outcome } = await worker.run({
    entry: { kind: "step" },
    event: JSON.parse(event),
  });
  assert.deepEqual(outcome.value, [["__proto__", "x"], null, null]);
});

Deno.test("a value of a namespace with a strange name is that namespace's only", async () => {
  await using worker = await startComponent(codeStep(
    `return [Object.keys(steps).at(-1), ({}).$return_value ?? null, Object.getOwnPropertyDescriptor(steps, "__proto__").value.$return_value];`,
  ));
  const lazy = JSON.parse(
    `{"__proto__.$return_value": ${JSON.stringify(fileOf(worker, "strange", 1))}}`,
  );
  const { outcome } = await runStep(worker, { lazy });
  assert.deepEqual(outcome.value, ["__proto__", null, 1], outcome.error?.stack);
});
