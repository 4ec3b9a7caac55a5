/** Actions that end a run, delay it or let it go on: `filter`, `end`, `delay`. */

import assert from "node:assert/strict";
import { failureOf, loadAction, runAction } from "./builtin_steps.ts";

const CONTINUE = "filter-continue-based-on-condition";
const END = "filter-end-based-on-condition";

type Row = [condition: string, first: unknown, second: unknown, holds: boolean];

const ROWS: Row[] = [
  ["CONTAINS", "Hello World", "hello", true],
  ["CONTAINS", "Hello", "World", false],
  ["NOT_CONTAINS", "Hello", "World", true],
  ["IN", "Hello", "ell", true],
  ["NOT_IN", "Hello", "ell", false],
  ["TEXT_EQUALS", "Yes", "yes", true],
  ["TEXT_EQUALS", 5, "5", true],
  ["TEXT_NOT_EQUALS", "Yes", "yes", false],
  ["STARTS_WITH", "Invoice 7", "invoice", true],
  ["NOT_STARTS_WITH", "Invoice 7", "invoice", false],
  ["ENDS_WITH", "a.PDF", ".pdf", true],
  ["NOT_ENDS_WITH", "a.PDF", ".png", true],
  ["GREATER_THAN", "10", "9", true],
  ["GREATER_THAN", 9, 9, false],
  ["GREATER_THAN_EQUALS", 1, "1", true],
  ["LESS_THAN", "1.5", 2, true],
  ["LESS_THAN_EQUALS", 2, 2, true],
  ["LESS_THAN_EQUALS", 3, 2, false],
  ["EQUALS", "2.0", 2, true],
  ["EQUALS", 2, 3, false],
  ["TRUE", true, undefined, true],
  ["TRUE", 0, undefined, false],
  ["FALSE", "", undefined, true],
  ["IS_NULL", null, undefined, true],
  ["IS_NULL", undefined, undefined, true],
  ["IS_NULL", "undefined", undefined, true],
  ["IS_NULL", 0, undefined, false],
  ["NOT_NULL", "", undefined, true],
  ["IN_ARRAY", "B", ["a", "b"], true],
  ["IN_ARRAY", 2, "[1, 2]", true],
  ["IN_ARRAY", "c", ["a", "b"], false],
  ["NOT_IN_ARRAY", "c", ["a", "b"], true],
  ["KEY_EXISTS", "id", { id: 1 }, true],
  ["KEY_EXISTS", "id", '{"id":null}', false],
  ["KEY_EXISTS", "toString", {}, false],
  ["KEY_NOT_EXISTS", "id", {}, true],
  ["AFTER", "2026-02-01", "2026-01-31", true],
  ["BEFORE", 1_000, "2000", true],
  ["DATE_EQUALS", "2026-01-01T00:00:00Z", 1767225600000, true],
];

Deno.test("a condition that holds lets the run go on, and ends the other", async () => {
  for (const [condition, initialValue, secondValue, holds] of ROWS) {
    const row = `${condition} ${JSON.stringify([initialValue, secondValue])}`;
    const props = {
      condition,
      initialValue,
      secondValue,
      messageOnContinue: "on",
      messageOnEnd: "off",
    };
    const continued = await runAction(CONTINUE, props);
    assert.deepEqual(continued.exits, holds ? [] : ["off"], row);
    assert.equal(continued.returned, holds ? "on" : undefined, row);
    const ended = await runAction(END, props);
    assert.deepEqual(ended.exits, holds ? ["off"] : [], row);
    assert.equal(ended.returned, holds ? undefined : "on", row);
  }
});

Deno.test("a stored step without messages goes on or ends with none", async () => {
  const props = { condition: "GREATER_THAN_EQUALS", secondValue: "1" };
  const on = await runAction(CONTINUE, { ...props, initialValue: 20 });
  assert.deepEqual([on.returned, on.exits, on.exports], [undefined, [], {}]);
  const off = await runAction(CONTINUE, { ...props, initialValue: 0 });
  assert.deepEqual(off.exits, [undefined]);
});

Deno.test("letters are compared exactly, and items as numbers, if that is chosen", async () => {
  const exact = { condition: "TEXT_EQUALS", initialValue: "A", secondValue: "a" };
  assert.equal((await runAction(CONTINUE, exact)).exits.length, 0);
  assert.equal(
    (await runAction(CONTINUE, { ...exact, caseSensitive: true })).exits.length,
    1,
  );
  const numbers = { condition: "IN_ARRAY", initialValue: "1.0", secondValue: ["1"] };
  assert.equal((await runAction(CONTINUE, numbers)).exits.length, 1);
  assert.equal(
    (await runAction(CONTINUE, { ...numbers, arrayType: "NUMBER" })).exits.length,
    0,
  );
});

Deno.test("values that a condition cannot compare are errors", async () => {
  for (
    const [condition, initialValue, secondValue, name, message] of [
      ["GREATER_THAN", "many", 1, "Error", /`many` is not a number/],
      ["AFTER", "someday", 1, "Error", /`someday` is not a date/],
      ["IN_ARRAY", 1, "{}", "ConfigurationError", /must be an array/],
      ["KEY_EXISTS", "a", "null", "ConfigurationError", /must be an object/],
      ["LIKE", "a", "b", "ConfigurationError", /`LIKE` is unknown; there are CONTAINS/],
      ["constructor", "a", "b", "ConfigurationError", /`constructor` is unknown/],
    ] as const
  ) {
    const error = await failureOf(CONTINUE, { condition, initialValue, secondValue });
    assert.equal(error.name, name, condition);
    assert.match(error.message, message);
  }
});

Deno.test("the props follow the condition", async () => {
  const { additionalProps } = await loadAction(CONTINUE);
  const names = (values: object) =>
    Object.keys((additionalProps as () => object).call(values));
  assert.deepEqual(names({ condition: "CONTAINS" }), ["secondValue", "caseSensitive"]);
  assert.deepEqual(names({ condition: "LESS_THAN" }), ["secondValue"]);
  assert.deepEqual(names({ condition: "IS_NULL" }), []);
  assert.deepEqual(names({ condition: "IN_ARRAY" }), [
    ...["secondValue", "arrayType", "caseSensitive"],
  ]);
  assert.deepEqual(names({ condition: "IN_ARRAY", arrayType: "NUMBER" }), [
    ...["secondValue", "arrayType"],
  ]);
  assert.deepEqual(names({ condition: "KEY_EXISTS" }), ["secondValue"]);
});

Deno.test("steps of former releases end and go on with their reasons", async () => {
  const text = { valueType: "TEXT", condition: "IN", operand1: "abc", operand2: "B" };
  const on = await runAction("filter-continue-workflow-condition", text);
  assert.deepEqual(on.exits, []);
  assert.equal(on.exports.$summary, "Condition met for continuing workflow");
  const off = await runAction("filter-end-workflow-condition", text);
  assert.deepEqual(off.exits, ["Condition met for ending workflow"]);
  const list = {
    valueType: "ARRAY",
    condition: "IN_ARRAY",
    arrayType: "integer",
    operand1: "2",
    operand2: [1, 2],
    reasonEnding: "found",
  };
  assert.deepEqual((await runAction("filter-end-workflow-condition", list)).exits, [
    "found",
  ]);
});

Deno.test("the operands of former releases have the type that is chosen", async () => {
  const action = await loadAction("filter-end-workflow-condition");
  const types = (values: object) => {
    const props = (action.additionalProps as () => Record<string, { type: string }>)
      .call(values);
    return Object.entries(props).map(([name, { type }]) => `${name}: ${type}`);
  };
  assert.deepEqual(types({ valueType: "TEXT" }), [
    ...["operand1: string", "operand2: string", "caseSensitive: boolean"],
  ]);
  assert.deepEqual(types({ valueType: "DATETIME" }), [
    ...["operand1: integer", "operand2: integer"],
  ]);
  assert.deepEqual(types({ valueType: "ARRAY" }), ["arrayType: string"]);
  assert.deepEqual(types({ valueType: "ARRAY", arrayType: "boolean" }), [
    ...["arrayType: string", "operand1: boolean", "operand2: boolean[]"],
  ]);
  const { condition } = action.props as Record<string, { options(): string[] }>;
  assert.deepEqual(condition!.options.call({ valueType: "NULL" }), [
    ...["IS_NULL", "NOT_NULL"],
  ]);
});

Deno.test("an expression ends the run", async () => {
  const key = "filter-end-workflow-custom-condition";
  const ended = await runAction(key, { condition: true, reason: "enough" });
  assert.deepEqual(ended.exits, ["enough"]);
  const on = await runAction(key, { condition: false, reason: "enough" });
  assert.deepEqual(on.exits, []);
});

Deno.test("the first filter ends or goes on, as it is told", async () => {
  const key = "filter-filter";
  for (
    const [condition, inputField, valueToCompare, holds] of [
      ["IN", "abc", "b", true],
      ["IN", "abc", "B", false],
      ["TRUE", "true", undefined, true],
      ["FALSE", "true", undefined, false],
      ["EXISTS", '{"a":null}', "a", true],
      ["NOT_EXISTS", { a: 1 }, "a", false],
      ["BEFORE", "1000", "2000", true],
    ] as const
  ) {
    const props = { condition, inputField, valueToCompare };
    const on = await runAction(key, props);
    assert.equal(on.exits.length, holds ? 0 : 1, condition);
    assert.equal(on.returned, holds ? true : undefined, condition);
    const off = await runAction(key, { ...props, continue: "false" });
    assert.equal(off.exits.length, holds ? 1 : 0, condition);
  }
  const error = await failureOf(key, { condition: "TRUE", inputField: "yes" });
  assert.match(error.message, /`yes` must be true or false/);
});

Deno.test("a run ends with a reason", async () => {
  assert.deepEqual((await runAction("end-end-workflow", { reason: "done" })).exits, [
    "done",
  ]);
});

Deno.test("delays are in the unit that is chosen, and return the run's URLs", async () => {
  for (
    const [delayDurationValue, delayDurationUnit, milliseconds] of [
      [250, "Milliseconds", 250],
      ["90", "Seconds", 90_000],
      [3, "Minutes", 180_000],
      [2, "Hours", 7_200_000],
    ] as const
  ) {
    const props = { delayDurationValue, delayDurationUnit };
    const ran = await runAction("delay-workflow-delay", props);
    assert.deepEqual(ran.delays, [milliseconds]);
    assert.deepEqual(ran.returned, { resume_url: "resume", cancel_url: "cancel" });
  }
});

Deno.test("a delay without a number or a known unit is refused by name", async () => {
  for (
    const [delayDurationValue, delayDurationUnit, message] of [
      ["soon", "Hours", /`delayDurationValue` must be a number, not `soon`/],
      [1, "Days", /`delayDurationUnit` must be one of Milliseconds, .*, not `Days`/],
      [1, "constructor", /`delayDurationUnit` must be one of/],
    ] as const
  ) {
    const props = { delayDurationValue, delayDurationUnit };
    const error = await failureOf("delay-workflow-delay", props);
    assert.equal(error.name, "ConfigurationError");
    assert.match(error.message, message);
  }
});
