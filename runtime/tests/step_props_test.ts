/** Props of steps: evaluated, unwrapped and in the types of their definitions. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";
import { StepProps } from "../worker/step_props.ts";
import { codeStep, expression, runStep } from "./workflow_host.ts";

const APP = {
  type: "app",
  propDefinitions: { sheet: { type: "string", withLabel: true, options: [] } },
};

const PROPS = new StepProps({
  props: {
    text: { type: "string" },
    short: "string",
    number: { type: "integer" },
    flag: { type: "boolean" },
    object: { type: "object" },
    texts: { type: "string[]" },
    numbers: { type: "integer[]" },
    anything: { type: "any" },
    list: { type: "any[]" },
    choice: { type: "string", withLabel: true },
    choices: { type: "string[]", withLabel: true },
    inherited: { propDefinition: [APP, "sheet"] },
    defaulted: { type: "integer[]", default: [1] },
    broken: { propDefinition: "nothing" },
  },
});
const STEPS = { trigger: { event: {} }, a: { list: [{ __lv: { value: 1 } }] } };

async function valueOf(name: string, template: unknown): Promise<unknown> {
  const values = await PROPS.values({ [name]: structuredClone(template) }, {}, STEPS);
  return values[name];
}

const lv = (label: string, value: unknown) => ({ __lv: { label, value } });

const VALUES: [name: string, given: unknown, value: unknown][] = [
  ["text", "a", "a"],
  ["text", 5, "5"],
  ["text", true, "true"],
  ["text", { a: [1] }, '{"a":[1]}'],
  ["text", expression("[1, 2]"), "[1,2]"],
  ["text", expression("new Date(0)"), "1970-01-01T00:00:00.000Z"],
  ["text", null, null],
  ["text", expression("undefined"), undefined],
  ["short", expression("7"), "7"],
  ["number", "12", 12],
  ["number", " -1.5 ", -1.5],
  ["number", "", ""],
  ["number", "twelve", "twelve"],
  ["number", "0x10", "0x10"],
  ["number", "12345678901234567890", "12345678901234567890"],
  ["number", { $template: [{ expression: "1" }, "2"] }, 12],
  ["number", 1.5, 1.5],
  ["flag", "true", true],
  ["flag", "false", false],
  ["flag", "Yes", "Yes"],
  ["flag", expression("1 > 2"), false],
  ["object", '{"a": 1}', { a: 1 }],
  ["object", "{a: 1}", "{a: 1}"],
  ["object", { a: expression("1") }, { a: 1 }],
  ["texts", '["a", "b"]', ["a", "b"]],
  ["texts", "a, b", ["a, b"]],
  ["texts", "5", ["5"]],
  ["texts", ["a", expression("1 + 1")], ["a", 2]],
  ["numbers", "[1, 2]", [1, 2]],
  ["numbers", "none", "none"],
  ["list", '[{"a": 1}]', [{ a: 1 }]],
  ["anything", "[1]", "[1]"],
  ["anything", expression("[undefined, 1]"), [undefined, 1]],
  ["choice", lv("One", "1"), { label: "One", value: "1" }],
  ["choice", "1", "1"],
  ["choice", expression("({ label: 'One', value: 1 })"), { label: "One", value: 1 }],
  ["choices", [lv("One", "1")], [{ label: "One", value: "1" }]],
  ["inherited", lv("One", "1"), { label: "One", value: "1" }],
  ["text", lv("One", "1"), "1"],
  ["text", lv("One", 1), "1"],
  ["number", lv("One", "1"), 1],
  ["texts", [lv("One", "1"), "2"], ["1", "2"]],
  ["texts", [lv("One", expression("3"))], [3]],
  ["unknown", "5", "5"],
  ["unknown", lv("One", "1"), "1"],
  ["unknown", { a: expression("1 + 1") }, { a: 2 }],
  ["defaulted", expression("undefined"), [1]],
  ["defaulted", expression("[2]"), [2]],
  ["defaulted", null, null],
  ["broken", "5", "5"],
];

for (const [name, given, value] of VALUES) {
  Deno.test(`prop ${name} of ${Deno.inspect(given, { depth: 9 })}`, async () => {
    assert.deepEqual(await valueOf(name, given), value);
  });
}

Deno.test("a list of `steps` is not changed by reading it as a prop", async () => {
  assert.deepEqual(await valueOf("list", expression("steps.a.list")), [1]);
  assert.deepEqual(STEPS.a.list, [{ __lv: { value: 1 } }]);
});

Deno.test("a run that changes a default leaves it to the next as it was", async () => {
  const first = await valueOf("defaulted", expression("undefined"));
  assert.ok(Array.isArray(first));
  first.push(2);
  assert.deepEqual(await valueOf("defaulted", expression("undefined")), [1]);
});

Deno.test("the host's values win, and keys with a leading underscore are no props", async () => {
  const templates = {
    text: expression("missing()"),
    _props_cursor: "dyp_1",
    _filter: { rules: expression("missing()") },
    __configurableProps: [],
    short: "kept",
  };
  const values = await PROPS.values(templates, { text: "the host's" }, STEPS);
  assert.deepEqual({ ...values }, { short: "kept" });
});

Deno.test("code finds the values as `this`, and undefined ones absent", async () => {
  await using worker = await startComponent(codeStep(
    `return [this.text, this.count, this.missing, "missing" in this, this.withDefault, this.store !== undefined, typeof this.request.execute, this.app.$auth, this.dynamic];`,
    `{ text: "string", count: { type: "integer", default: 7 }, missing: { type: "string", optional: true },
       withDefault: { type: "string", default: "d" }, store: { type: "data_store" }, request: { type: "http_request" },
       app: { type: "app", app: "a" } }`,
  ));
  const { outcome } = await runStep(worker, {
    props: {
      text: expression("event.text"),
      count: "12",
      missing: expression("event.missing"),
      app: { authProvisionId: "apn_1" },
      store: { storeId: "ds_1" },
      request: { method: "GET", url: expression("event.url") },
      dynamic: expression("[event.text]"),
    },
    steps: { trigger: { event: { text: "t", url: "https://a.example" } } },
  }, {
    props: {
      withDefault: "d",
      store: { $data_store: "ds_1" },
      app: { $auth: { api_key: "k" } },
    },
  });
  assert.deepEqual(outcome.value, [
    "t",
    12,
    null,
    false,
    "d",
    true,
    "function",
    { api_key: "k" },
    ["t"],
  ], outcome.error?.stack);
});

Deno.test("data that looks like a value of the host opens nothing", async () => {
  await using worker = await startComponent(codeStep(
    `return [this.given, this.dynamic, Object.getPrototypeOf(this) === null];`,
    `{ given: { type: "any" } }`,
  ));
  const event = { $data_store: "ds_of_others" };
  const { outcome } = await runStep(worker, {
    props: { given: expression("event"), dynamic: expression("event") },
    steps: { trigger: { event } },
  });
  assert.deepEqual(outcome.value, [event, event, false]);
});

Deno.test("an error in a prop is the step's, and names the prop", async () => {
  await using worker = await startComponent(codeStep("console.log('ran');"));
  const { frames, outcome } = await runStep(worker, {
    props: { fine: "a", text: ["a", { b: expression("steps.gone.$return_value") }] },
  });
  assert.deepEqual(frames.map(({ type }) => type), ["outcome"]);
  assert.equal(outcome.error.name, "TypeError");
  assert.match(
    outcome.error.message,
    /^props\.text: Cannot read properties of undefined/,
  );
  const circular = await runStep(worker, {
    props: {
      text: {
        $template: ["a", {
          expression: "(() => { const a = {}; a.a = a; return a; })()",
        }],
      },
    },
  });
  assert.match(circular.outcome.error.message, /^props\.text: .*circular/);
});
