/** What a component may pass as the second argument of `$emit`. */

import assert from "node:assert/strict";
import { normalizeEmitOptions } from "../worker/emit.ts";

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

Deno.test("an unknown ordering time is dropped, an unknown delivery time is not", () => {
  assert.deepEqual(normalizeEmitOptions({ ts: NaN }), {});
  assert.throws(
    () => normalizeEmitOptions({ delivery_ts: NaN }),
    /delivery_ts must be/,
  );
});

Deno.test("errors name the field", () => {
  const refused = (options: unknown, reason: RegExp) =>
    assert.throws(() => normalizeEmitOptions(options), reason);
  refused("id", /\$emit: options must be an object, not the string "id"/);
  refused({ id: { a: 1 } }, /\$emit: id must be a string or a number, not an object/);
  refused({ id: NaN }, /\$emit: id must be a string or a number, not NaN/);
  refused({ name: ["a"] }, /\$emit: name must be a string, not an array/);
  refused({ summary: {} }, /\$emit: summary must be a string, not an object/);
  refused({ ts: "soon" }, /\$emit: ts must be epoch milliseconds or a Date/);
  refused({ ts: new Date(NaN) }, /\$emit: ts must be .* not an invalid Date/);
});
