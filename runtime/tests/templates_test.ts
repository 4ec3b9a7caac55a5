/** Templates: which value a text with expressions becomes. */

import assert from "node:assert/strict";
import { expressionOf } from "../worker/expressions.ts";
import { fillIn } from "../worker/templates.ts";
import { expression } from "./workflow_host.ts";

const STEPS = {
  trigger: { event: { name: "Ada", list: [1, { two: 2 }] } },
  before: { $return_value: 7, none: null },
};

function filled(template: unknown): unknown {
  const holder = { value: structuredClone(template) };
  assert.equal(fillIn(holder, "value", STEPS), undefined, "nothing is awaited");
  return holder.value;
}

async function awaited(template: unknown): Promise<unknown> {
  const holder = { value: template };
  await fillIn(holder, "value", STEPS);
  return holder.value;
}

const VALUES: [what: string, template: unknown, value: unknown][] = [
  ["a literal is itself", { a: [1, "{{x}}", null], b: { c: true } }, {
    a: [1, "{{x}}", null],
    b: { c: true },
  }],
  ["one expression keeps its type", expression("steps.trigger.event.list"), [1, {
    two: 2,
  }]],
  ["`event` is the trigger's", expression("event.name.length"), 3],
  ["undefined stays", expression("steps.nowhere?.at.all"), undefined],
  [
    "parts are joined as text",
    { $template: ["Hi ", { expression: "event.name" }, "!"] },
    "Hi Ada!",
  ],
  [
    "nothing is no text, objects are JSON",
    {
      $template: [
        { expression: "undefined" },
        { expression: "steps.before.none" },
        { expression: "event.list" },
        { expression: "[1.5, true].join()" },
      ],
    },
    '[1,{"two":2}]1.5,true',
  ],
  [
    "a date is its ISO text",
    { $template: ["at ", { expression: "new Date(0)" }] },
    "at 1970-01-01T00:00:00.000Z",
  ],
  ["text alone is text", { $template: ["plain"] }, "plain"],
  ["expressions are found in arrays and objects", [{ a: expression("1 + 1") }], [{
    a: 2,
  }]],
  [
    "a literal object may have the marks as keys",
    { $literal: { $template: ["kept"], $literal: 1, $condition: expression("3") } },
    { $template: ["kept"], $literal: 1, $condition: 3 },
  ],
  [
    "even as the value of such a key",
    { $literal: { $literal: { $literal: { $template: "kept" } } } },
    { $literal: { $template: "kept" } },
  ],
  ["a comment may end it", expression("1 // one"), 1],
  ["a list of expressions has the last one's value", expression("1, 2"), 2],
  ["an object literal is one", expression("{ a: { b: 1 } }"), { a: { b: 1 } }],
  ["an empty one is undefined", expression("  "), undefined],
  ["so is a comment alone", expression("/* nothing */ // at all"), undefined],
  ["in text it is nothing", { $template: ["a", { expression: "" }, "b"] }, "ab"],
  ["it is strict code without `this`", expression("(() => this)()"), undefined],
  [
    "globals are those of components",
    expression("[typeof process.env, typeof JSON, typeof fetch, typeof Buffer].join()"),
    "object,object,function,function",
  ],
];

for (const [what, template, value] of VALUES) {
  Deno.test(`template: ${what}`, () => {
    assert.deepEqual(filled(template), value);
  });
}

Deno.test("only an expression with `await` waits for its promise", async () => {
  const holder = { value: expression("Promise.resolve(1)") };
  assert.equal(fillIn(holder as object, "value", STEPS), undefined);
  assert.ok(holder.value as unknown instanceof Promise);
  const order = `["a", "b"].at(await Promise.resolve(1))`;
  const template = {
    one: expression("await Promise.resolve(event.name)"),
    text: { $template: ["<", { expression: order }, { expression: "1 + 1" }, ">"] },
    plain: expression("2"),
  };
  assert.deepEqual(await awaited(template), { one: "Ada", text: "<b2>", plain: 2 });
});

Deno.test("awaiting expressions are evaluated one after the other", async () => {
  const step = (name: string) =>
    expression(
      `(globalThis.order ??= []).push("${name}"), await new Promise((resolve) => setTimeout(resolve, 1)), order.push("${name}")`,
    );
  await awaited([step("a"), step("b")]);
  assert.deepEqual(Reflect.get(globalThis, "order"), ["a", "a", "b", "b"]);
});

Deno.test("text that is not an expression is a syntax error", () => {
  for (const text of ["return 1", "1;", "let a = 1", "(", "a b"]) {
    assert.throws(() => filled(expression(text)), SyntaxError, text);
  }
});

Deno.test("an expression has no way to the variables of others, or to the runtime's", () => {
  assert.throws(() => filled(expression("leaked = 1")), ReferenceError);
  for (const name of ["call", "cache", "evaluate", "holder", "body"]) {
    assert.throws(() => filled(expression(name)), ReferenceError);
  }
});

Deno.test("each text is compiled once, in a bounded memory", () => {
  const first = expressionOf("steps.a");
  assert.equal(expressionOf("steps.a"), first);
  for (let i = 0; i < 3000; i++) expressionOf(`${i}`);
  assert.notEqual(expressionOf("steps.a"), first);
  const large = `"${"x".repeat(2_000_000)}".length`;
  assert.notEqual(expressionOf(large), expressionOf(large));
  assert.equal(filled(expression(large)), 2_000_000);
});

Deno.test("a huge template is put together", () => {
  const parts = Array.from(
    { length: 100_000 },
    (_, i) => i % 2 === 0 ? "x" : { expression: "event.name" },
  );
  assert.equal((filled({ $template: parts }) as string).length, 200_000);
});
