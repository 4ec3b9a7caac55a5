/** Conditions: which operators hold for which values. */

import assert from "node:assert/strict";
import { holds } from "../worker/conditions.ts";
import type { Condition } from "../worker/workflow_input.ts";
import { expression } from "./workflow_host.ts";

const STEPS = {
  trigger: { event: { name: "Ada", age: 36, tags: ["a", "b"], none: null } },
};

function answer(condition: unknown): Promise<boolean> {
  return holds(structuredClone(condition) as Condition, STEPS);
}

/** An operator and the pairs for which it holds, and for which it does not. */
const RULES: [op: string, holding: unknown[][], failing: unknown[][]][] = [
  ["exists", [["x"], [""], [0], [false], [{}]], [[null], [undefined]]],
  ["not_exists", [[null], [undefined]], [[0], [""]]],
  [
    "equals",
    [[1, 1], ["a", "a"], [null, null], [{ a: [1] }, { a: [1] }]],
    [[1, "1"], ["a", "A"], [{ a: 1 }, { a: 2 }], [null, 0]],
  ],
  ["not_equals", [[1, "1"], [{}, []]], [[[1], [1]]]],
  ["text_equals", [["a", "a"], [5, "5"], [null, ""]], [["a", "A"], ["a", " a"]]],
  ["text_not_equals", [["a", "b"]], [[5, "5"]]],
  ["text_blank", [[""], [" \n"], [null], [undefined]], [["a"], [0], [false]]],
  ["text_not_blank", [["a"], [0]], [[""], [undefined]]],
  ["text_starts_with", [["abc", "ab"], [123, 12], ["a", ""]], [["abc", "b"]]],
  ["text_not_starts_with", [["abc", "b"]], [["abc", "a"]]],
  ["text_ends_with", [["abc", "bc"]], [["abc", "b"]]],
  ["text_not_ends_with", [["abc", "b"]], [["abc", "c"]]],
  ["text_contains", [["abc", "b"], [1234, 23], [["x"], "x"]], [["abc", "B"], [
    null,
    "a",
  ]]],
  ["text_not_contains", [["abc", "B"]], [["abc", "b"]]],
  [
    "text_matches",
    [["Ada", "/^a/i"], ["a/b", "/a\\/b$/"], ["x/y", "x/"], ["abc", "b"], ["//", "//"]],
    [["Ada", "/^a/"], ["abc", "/b"], ["x", "//"]],
  ],
  ["text_not_matches", [["Ada", "/^a/"]], [["Ada", "/^A/"]]],
  ["number_equals", [[1, 1], ["1.0", 1], [" 7 ", "7"], ["1e3", 1000]], [
    ["", 0],
    [null, 0],
    ["a", "a"],
    [true, 1],
    ["0x10", 16],
  ]],
  ["number_not_equals", [[1, 2], ["a", 1]], [["1", 1]]],
  ["number_greater", [[2, 1], ["10", "9"], ["99999999999999999999", 1]], [
    [1, 1],
    ["a", 1],
    [1, "a"],
  ]],
  ["number_greater_or_equal", [[1, 1], [2, "1"]], [[0, 1], [null, -1]]],
  ["number_less", [[1, 2], ["-1", 0]], [[1, 1], [null, 1]]],
  ["number_less_or_equal", [[1, 1]], [[2, 1], ["", 1]]],
  ["is_true", [[true], ["true"]], [[1], ["yes"], [false], [undefined]]],
  ["is_false", [[false], ["false"]], [[0], [""], [true], [undefined]]],
  ["is_boolean", [[true], [false]], [["true"], [null]]],
  ["is_null", [[null], [undefined]], [[0], ["null"]]],
  ["is_not_null", [[0], [""]], [[null]]],
  ["is_text", [[""], ["a"]], [[1], [["a"]]]],
  ["is_number", [[0], [1.5]], [["1"], [NaN], [null]]],
  ["is_array", [[[]]], [[{}], ["[]"]]],
  ["is_object", [[{}]], [[[]], [null], ["{}"]]],
  [
    "in",
    [["a", ["a", "b"]], [1, "[1, 2]"], [{ x: 1 }, [{ x: 1 }]], ["b", "abc"]],
    [["c", ["a", "b"]], ["1", "[1, 2]"], ["a", null], ["a", { a: 1 }]],
  ],
  ["not_in", [["c", ["a"]], ["a", undefined]], [["a", ["a"]]]],
  [
    "key_exists",
    [["a", { a: 0 }], ["a", '{"a": 1}'], [0, ["first"]]],
    [["b", { a: 1 }], ["a", { a: null }], ["toString", {}], ["a", "a"], ["a", null]],
  ],
  ["key_not_exists", [["b", { a: 1 }]], [["a", { a: 1 }]]],
];

for (const [op, holding, failing] of RULES) {
  Deno.test(`operator ${op}`, async () => {
    for (const [a, b] of holding) {
      assert.equal(await answer({ op, a, b }), true, Deno.inspect([a, b]));
    }
    for (const [a, b] of failing) {
      assert.equal(await answer({ op, a, b }), false, Deno.inspect([a, b]));
    }
  });
}

Deno.test("both sides are templates, and a pattern may be one too", async () => {
  const rule = (op: string, a: unknown, b: unknown) => answer({ op, a, b });
  const name = expression("event.name");
  assert.ok(await rule("equals", name, expression(`"A" + "da"`)));
  assert.ok(
    await rule(
      "text_equals",
      { $template: [{ expression: "event.name" }, "!"] },
      "Ada!",
    ),
  );
  assert.ok(await rule("text_matches", name, expression("/ADA/i")));
  assert.ok(await rule("in", "b", expression("event.tags")));
  assert.ok(await rule("equals", expression("await Promise.resolve(1)"), 1));
  assert.equal(await rule("exists", expression("event.none"), undefined), false);
  assert.ok(await answer({ op: "not_exists" }));
});

Deno.test("an expression is asked for its truth", async () => {
  for (
    const [text, expected] of [["event.age > 30", true], [`"false"`, true], [
      "0",
      false,
    ], ["", false]] as const
  ) {
    assert.equal(await answer({ expression: text }), expected, text);
  }
  assert.equal(await answer({ expression: "await Promise.resolve(0)" }), false);
});

Deno.test("conditions combine, and those that cannot matter are not evaluated", async () => {
  const yes = { expression: "true" };
  const no = { expression: "false" };
  const fails = { expression: "missing()" };
  for (
    const [condition, expected] of [
      [{ and: [yes, yes] }, true],
      [{ and: [yes, no, fails] }, false],
      [{ and: [] }, true],
      [{ or: [no, yes, fails] }, true],
      [{ or: [no, no] }, false],
      [{ or: [] }, false],
      [{ not: no }, true],
      [{ and: [{ or: [no, yes] }, { not: { and: [yes, no] } }] }, true],
    ] as const
  ) {
    assert.equal(await answer(condition), expected, Deno.inspect(condition));
  }
  await assert.rejects(answer({ and: [yes, fails] }), ReferenceError);
});

Deno.test("an unknown operator is refused by name", async () => {
  for (const op of ["matches", "__proto__", "toString", "is_not_text"]) {
    await assert.rejects(answer({ op, a: 1 }), new RegExp(`unknown operator "${op}"`));
  }
});

Deno.test("a pattern that cannot be read is an error", async () => {
  await assert.rejects(answer({ op: "text_matches", a: "x", b: "/(/" }), SyntaxError);
});
