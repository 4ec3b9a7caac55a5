/** The description of a component: every propDefinition inlined, nothing but JSON. */

import assert from "node:assert/strict";
import { describeComponent } from "../worker/describe.ts";
import type { Component } from "../worker/component.ts";

const app = {
  type: "app" as const,
  app: "acme",
  methods: { call() {} },
  propDefinitions: {
    list: {
      type: "string",
      label: "List",
      description: "inherited",
      useQuery: true,
      options: () => ["a"],
    },
    item: { type: "integer", min: 1, options: [1, 2] },
  } as Record<string, unknown>,
};
app.propDefinitions.nested = { propDefinition: [app, "list"], description: "nested" };

function describe(component: Component) {
  return JSON.parse(describeComponent({ run() {}, ...component }));
}

function describeProps(props: Record<string, unknown>) {
  return describe({ props }).props;
}

Deno.test("the fields of the component are kept, its code becomes flags", () => {
  const described = describe({
    name: "Name",
    key: "acme-name",
    version: "0.0.1",
    description: "d",
    dedupe: "unique",
    hooks: { deploy() {}, deactivate() {} },
    additionalProps() {},
  });
  assert.deepEqual(described, {
    name: "Name",
    key: "acme-name",
    version: "0.0.1",
    type: "source",
    description: "d",
    dedupe: "unique",
    props: [],
    hooks: { deploy: true, activate: false, deactivate: true },
    has_additional_props: true,
    has_run: true,
  });
});

Deno.test("shorthands and app objects are normalized", () => {
  assert.deepEqual(
    describeProps({
      db: "$.service.db",
      app,
      inline: { type: "app", app: "other", label: "Account" },
      http: { type: "$.interface.http", customResponse: true },
      missing: undefined,
    }),
    [
      { name: "db", type: "$.service.db" },
      { name: "app", type: "app", app: "acme" },
      { name: "inline", type: "app", app: "other", label: "Account" },
      { name: "http", type: "$.interface.http", customResponse: true },
    ],
  );
});

Deno.test("a propDefinition is inlined and what the prop says wins", () => {
  const [list, item, nested] = describeProps({
    list: { propDefinition: [app, "list"], description: "own", optional: true },
    item: { propDefinition: [app, "item", () => ({})], options: [3] },
    nested: { propDefinition: [app, "nested"] },
  });
  assert.deepEqual(list, {
    name: "list",
    type: "string",
    label: "List",
    description: "own",
    useQuery: true,
    optional: true,
    has_options: true,
    use_query: true,
  });
  assert.deepEqual(item, { name: "item", type: "integer", min: 1, options: [3] });
  assert.equal(nested.description, "nested");
  assert.equal(nested.has_options, true);
});

Deno.test("a prop whose definition leads nowhere is named", () => {
  const refused = (definition: unknown, reason: RegExp) =>
    assert.throws(() => describeProps({ broken: definition }), reason);
  refused({ propDefinition: [app, "gone"] }, /"broken" has no type.*not in app "acme"/);
  refused({ propDefinition: "list" }, /"broken": propDefinition must be \[app, name/);
  refused({ label: "x" }, /"broken" has no type/);
  const loop: Record<string, unknown> = { type: "app", app: "loop" };
  loop.propDefinitions = { a: { propDefinition: [loop, "a"] } };
  refused({ propDefinition: [loop, "a"] }, /"broken": propDefinition refers to itself/);
});

Deno.test("an app can be described without run", () => {
  assert.equal(describe({ ...app, run: undefined }).has_run, false);
});
