/** Computed props: async options and additionalProps. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";

const SOURCE = `
  const acme = { type: "app", app: "acme",
    propDefinitions: {
      list: { type: "string", async options({ page, prevContext, query, board }) {
        const { cursor } = prevContext;
        return [{ label: this.tag(board), value: [page, cursor ?? null, query ?? null] }];
      } },
    },
    methods: { tag(board) { return this.$auth.token + ":" + board; } } };
  export default { name: "T", version: "1", type: "action",
    props: { acme, board: { type: "string" },
      fixed: { type: "string", options: ["a", "b"] },
      own: { type: "string", options({ page }) { return [this.board + page]; } },
      list: { propDefinition: [acme, "list", (c) => ({ board: c.board })] },
      bad: { type: "string", options: () => 1n } },
    async additionalProps(previous) {
      previous.board.hidden = true;
      return { extra: { type: "string", label: previous.board.type, options: () => [this.board] },
        list2: { propDefinition: [acme, "list", { board: "fixed" }] } };
    },
    run() {} };`;

const props = { acme: { $auth: { token: "tok" } }, board: "B" };

async function options(fields: Record<string, unknown>) {
  await using worker = await startComponent(SOURCE);
  const entry = {
    kind: "options",
    page: 0,
    prev_context: null,
    query: null,
    ...fields,
  };
  return (await worker.run({ entry, props })).outcome;
}

Deno.test("inherited options run on the app, with the input values", async () => {
  const first = await options({ prop: "list" });
  assert.deepEqual(first.value, [{ label: "tok:B", value: [0, null, null] }]);
  const later = await options({
    prop: "list",
    page: 2,
    prev_context: { cursor: "c" },
    query: "q",
  });
  assert.deepEqual(later.value, [{ label: "tok:B", value: [2, "c", "q"] }]);
});

Deno.test("a prop's own options run on the component", async () => {
  assert.deepEqual((await options({ prop: "own", page: 1 })).value, ["B1"]);
  assert.deepEqual((await options({ prop: "fixed" })).value, ["a", "b"]);
});

Deno.test("props made by additionalProps have options too", async () => {
  const extra = { options: ["B"], is_whole: true };
  assert.deepEqual((await options({ prop: "extra" })).value, extra);
  assert.deepEqual((await options({ prop: "list2" })).value[0].label, "tok:fixed");
});

Deno.test("unknown props and values that are no JSON are errors", async () => {
  assert.match((await options({ prop: "none" })).error.message, /no prop "none"/);
  assert.match((await options({ prop: "bad" })).error.message, /options of prop "bad"/);
});

Deno.test("additionalProps returns described props and leaves the definitions alone", async () => {
  await using worker = await startComponent(SOURCE);
  const { outcome } = await worker.run({ entry: { kind: "additional_props" }, props });
  assert.deepEqual(outcome.value.extra, {
    name: "extra",
    type: "string",
    label: "string",
    has_options: true,
    use_query: false,
  });
  assert.equal(outcome.value.list2.has_options, true);
  const { description } = await worker.describe();
  assert.equal(description.props[1].hidden, undefined);
});

Deno.test("definitions that additionalProps changes are among what it returns", async () => {
  await using worker = await startComponent(`
    const acme = { type: "app", app: "acme",
      propDefinitions: { list: { type: "string", hidden: true, options: () => ["a"] } } };
    export default { name: "T", version: "1", type: "action",
      props: { acme, all: { type: "boolean", reloadProps: true },
        list: { propDefinition: [acme, "list"] }, other: { type: "string", hidden: true } },
      async additionalProps(props) {
        props.list.hidden = !this.all;
        props.other.optional = true;
        return this.all ? { other: { type: "integer" } } : undefined;
      },
      run() {} };`);
  const entry = { kind: "additional_props" };
  const shown = await worker.run({ entry, props: { all: true } });
  assert.deepEqual(shown.outcome.value, {
    list: {
      name: "list",
      type: "string",
      hidden: false,
      has_options: true,
      use_query: false,
    },
    other: { name: "other", type: "integer" },
  });
  const hidden = await worker.run({ entry, props: { all: false } });
  assert.deepEqual(Object.keys(hidden.outcome.value), ["other"]);
});
