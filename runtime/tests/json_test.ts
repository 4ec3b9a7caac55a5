/** Component values become JSON the host can parse, or an error that names the call. */

import assert from "node:assert/strict";
import { MAX_DEPTH, quote, toJson } from "../worker/json.ts";

function nested(levels: number): unknown {
  let value: unknown = "]{[";
  for (let i = 0; i < levels; i++) value = i % 2 ? { value } : [value, 1];
  return value;
}

Deno.test("undefined has no JSON", () => {
  assert.equal(toJson(undefined, "x"), undefined);
  assert.equal(toJson(null, "x"), "null");
});

Deno.test("lone surrogates are replaced, literal backslashes are not", () => {
  assert.equal(JSON.parse(toJson("a\ud800b", "x")!), "a\ufffdb");
  assert.equal(
    JSON.parse(toJson({ "\udc00": "\ud800\ud800" }, "x")!)["\ufffd"],
    "\ufffd\ufffd",
  );
  assert.equal(JSON.parse(toJson("\\ud800", "x")!), "\\ud800");
  assert.equal(JSON.parse(toJson("\\\\ud800\ud800", "x")!), "\\\\ud800\ufffd");
  assert.equal(JSON.parse(toJson("😀", "x")!), "😀");
  assert.equal(JSON.parse(quote("\ud800")), "\ufffd");
});

Deno.test("what cannot be JSON is refused by name", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const refused = (value: unknown, reason: RegExp) =>
    assert.throws(() => toJson(value, "$emit: event"), reason);
  refused(
    cycle,
    /^TypeError: \$emit: event is not JSON-serializable: Converting circular/,
  );
  refused({ n: 1n }, /not JSON-serializable: Do not know how to serialize a BigInt/);
  refused(() => {}, /not JSON-serializable: it is a function/);
  refused(nested(MAX_DEPTH + 1), /nested deeper than 120 levels/);
});

Deno.test("the greatest depth passes, whatever its strings contain", () => {
  assert.deepEqual(JSON.parse(toJson(nested(MAX_DEPTH), "x")!), nested(MAX_DEPTH));
  const strings = Array.from({ length: 300 }, () => '[[{"\\"[[');
  assert.deepEqual(JSON.parse(toJson(strings, "x")!), strings);
});
