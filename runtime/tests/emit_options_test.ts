/** The second argument of `$emit`. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";
import { normalizeEmitOptions as normalize } from "../worker/emit.ts";

const warnings: string[] = [];
const normalizeEmitOptions = (options: unknown) =>
  normalize(options, (text) => warnings.push(text));

Deno.test("no options are empty options", () => {
  assert.deepEqual(normalizeEmitOptions(undefined), {});
  assert.deepEqual(normalizeEmitOptions({ id: undefined, ts: null, other: 1 }), {});
});

Deno.test("values with one obvious reading are taken", () => {
  const date = new Date(1_700_000_000_123);
  assert.deepEqual(
    normalizeEmitOptions({ id: 7, name: "n", summary: 42, ts: date, delivery_ts: 5.7 }),
    { id: 7, name: "n", summary: "42", ts: 1_700_000_000_123, delivery_ts: 5 },
  );
  assert.equal(normalizeEmitOptions({ id: date }).id, date.toISOString());
  assert.equal(
    normalizeEmitOptions({ id: 12345678901234567890n }).id,
    "12345678901234567890",
  );
  assert.equal(normalizeEmitOptions({ summary: date }).summary, date.toISOString());
  assert.equal(normalizeEmitOptions({ ts: "1700000000123" }).ts, 1_700_000_000_123);
  assert.equal(
    normalizeEmitOptions({ ts: "2023-11-14T22:13:20Z" }).ts,
    1_700_000_000_000,
  );
});

Deno.test("a time that cannot be read is absent with a warning, and never throws", () => {
  const read: [unknown, string][] = [
    [NaN, "NaN"],
    [new Date(NaN), "an invalid Date"],
    ["soon", 'the string "soon"'],
    [{ a: 1 }, "an object"],
    [[1], "an array"],
    [true, "a boolean"],
    [Symbol("x"), "a symbol"],
    [Infinity, "Infinity"],
    [10n, "a bigint"],
  ];
  for (const [ts, kind] of read) {
    warnings.length = 0;
    assert.deepEqual(normalizeEmitOptions({ id: 1, ts }), { id: 1 });
    assert.deepEqual(warnings, [
      `$emit: ts must be epoch milliseconds or a Date, not ${kind}; the event has none`,
    ]);
  }
});

Deno.test("a delivery time that cannot be read is an error", () => {
  for (const delivery_ts of [NaN, "soon", {}]) {
    assert.throws(
      () => normalizeEmitOptions({ delivery_ts }),
      /delivery_ts must be epoch milliseconds or a Date/,
    );
  }
});

Deno.test("a run that emits with an unreadable time goes on and is warned", async () => {
  await using worker = await startComponent(`
    export default { name: "T", version: "1", run() {
      for (const id of [1, 2]) this.$emit({}, { id, ts: new Date(undefined) }); return "end"; } };`);
  const run = await worker.run();
  assert.equal(run.outcome.value, "end");
  assert.deepEqual(run.of("emit").map((frame) => frame.options), [{ id: 1 }, {
    id: 2,
  }]);
  assert.deepEqual(run.of("log").map((frame) => frame.level), ["warn", "warn"]);
});

Deno.test("errors name the field", () => {
  const refused = (options: unknown, reason: RegExp) =>
    assert.throws(() => normalizeEmitOptions(options), reason);
  refused("id", /\$emit: options must be an object, not the string "id"/);
  refused({ id: { a: 1 } }, /\$emit: id must be a string or a number, not an object/);
  refused({ id: NaN }, /\$emit: id must be a string or a number, not NaN/);
  refused({ name: ["a"] }, /\$emit: name must be a string, not an array/);
  refused({ summary: {} }, /\$emit: summary must be a string, not an object/);
});
