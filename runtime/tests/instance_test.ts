/** The `this` of component code. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";

function component(body: string, rest = ""): string {
  return `
    const acme = { type: "app", app: "acme",
      methods: { key() { return this.$auth.api_key; }, header() { return "k " + this.key(); } } };
    export default { name: "T", version: "1",
      props: { acme, other: { type: "app", app: "other" }, db: "$.service.db",
        state: { type: "$.service.db" }, http: { type: "$.interface.http" },
        timer: { type: "$.interface.timer" }, text: { type: "string" } },
      ${rest}
      async run(event) { ${body} } };`;
}

const PROPS = {
  acme: { $auth: { api_key: "secret" } },
  http: { endpoint: "http://host/e/t" },
  timer: { cron: null, interval_seconds: 60, timezone: "UTC" },
  text: "value",
  __proto__: null,
  dynamic: 5,
};

Deno.test("props, apps, interfaces and services are there by name", async () => {
  await using worker = await startComponent(component(`
    const header = this.acme.header;
    return { text: this.text, dynamic: this.dynamic, header: header(),
      noAccount: this.other.$auth, endpoint: this.http.endpoint, timer: this.timer,
      keys: Object.keys(this).sort() };`));
  const { outcome } = await worker.run({ props: PROPS });
  assert.deepEqual(outcome.value, {
    text: "value",
    dynamic: 5,
    header: "k secret",
    noAccount: {},
    endpoint: "http://host/e/t",
    timer: { cron: null, interval_seconds: 60, timezone: "UTC", intervalSeconds: 60 },
    keys: ["acme", "db", "dynamic", "http", "other", "state", "text", "timer"],
  });
});

Deno.test("methods are bound, replaceable, and fresh in every run", async () => {
  await using worker = await startComponent(component(
    `const { twice, $emit } = this;
     const before = twice();
     this.twice = () => "replaced";
     this.text = "changed"; this.acme.$auth.api_key = "changed"; this.left = 1;
     $emit({ ok: true });
     return [before, this.twice(), this.LIMIT, Object.create(this).twice()];`,
    `methods: { twice() { return this.text + this.once(); }, once() { return this.left ?? "-"; },
       LIMIT: 3 },`,
  ));
  for (let i = 0; i < 2; i++) {
    const run = await worker.run({ props: structuredClone(PROPS) });
    assert.deepEqual(run.outcome.value, ["value-", "replaced", 3, "replaced"]);
    assert.deepEqual(run.of("emit")[0]!.event, { ok: true });
  }
});

Deno.test("hooks have the same this", async () => {
  await using worker = await startComponent(component(
    "",
    `methods: { greet() { return "hi " + this.text; } },
     hooks: { async deploy() { this.$emit(this.greet()); } },`,
  ));
  const run = await worker.run({
    props: PROPS,
    entry: { kind: "hook", name: "deploy" },
  });
  assert.equal(run.of("emit")[0]!.event, "hi value");
  const none = await worker.run({
    props: PROPS,
    entry: { kind: "hook", name: "activate" },
  });
  assert.deepEqual(Object.keys(none.outcome).sort(), ["id", "type"]);
});

Deno.test("the db is one map, copies in and out, and forgets undefined", async () => {
  await using worker = await startComponent(
    component(`
      const value = { list: [1] };
      this.db.set("k", value); value.list.push(2);
      const got = this.state.get("k"); got.list.push(3);
      this.state.set("gone", undefined);
      return [await this.db.get("k"), this.db.get("gone") === undefined, this.db.get("old"),
        this.db.get("never") === undefined];`),
    { kv: { gone: 1, old: { a: null } } },
  );
  const run = await worker.run({ props: PROPS });
  assert.deepEqual(run.outcome.value, [{ list: [1] }, true, { a: null }, true]);
  assert.deepEqual(
    run.of("kv").map(({ seq, key, value }) => [seq, key, value]),
    [[1, "k", { list: [1] }], [2, "gone", undefined]],
  );
});

Deno.test("values that are no JSON are refused where they are given", async () => {
  await using worker = await startComponent(component(`
    const messages = [];
    for (const call of [() => this.db.set("k", 1n), () => this.$emit(() => {}),
        () => this.$emit(1, { id: {} }), () => this.http.respond({ status: 1 })]) {
      try { call(); } catch (error) { messages.push(error.message); }
    }
    return messages;`));
  const { value } = (await worker.run({ props: PROPS })).outcome;
  assert.match(value[0], /db\.set: value of "k" is not JSON-serializable/);
  assert.match(value[1], /\$emit: event is not JSON-serializable: it is a function/);
  assert.match(value[2], /\$emit: id must be/);
  assert.match(value[3], /respond: status must be/);
});

Deno.test("only the first respond counts", async () => {
  await using worker = await startComponent(component(`
    this.respond({ status: 201, body: "first" }); this.http.respond({ status: 202 });`));
  const run = await worker.run({ props: PROPS });
  assert.deepEqual(run.of("respond").map((frame) => frame.status), [201]);
  assert.match(run.of("log")[0]!.text, /more than once/);
});

Deno.test("interfaces and services may come from an app's prop definitions", async () => {
  await using worker = await startComponent(`
    const app = { type: "app", app: "acme", propDefinitions: {
      db: { type: "$.service.db" }, timer: { type: "$.interface.timer" },
      http: { type: "$.interface.http" } } };
    export default { name: "T", version: "1",
      props: { db: { propDefinition: [app, "db"] }, timer: { propDefinition: [app, "timer"] },
        http: { propDefinition: [app, "http"], customResponse: true } },
      run() { this.db.set("k", 1); this.http.respond({ status: 204 });
        return [this.db.get("k"), this.timer.intervalSeconds, this.http.endpoint]; } };`);
  const run = await worker.run({ props: PROPS });
  assert.deepEqual(run.outcome.value, [1, 60, "http://host/e/t"]);
  assert.equal(run.of("respond").length, 1);
});

Deno.test("app methods reach each other, their app's credentials and what they were given", async () => {
  await using worker = await startComponent(`
    const app = { type: "app", app: "acme", methods: {
      _url(path) { return this._base() + path; }, _base() { return "https://" + this.$auth.domain; },
      async *pages(path) { for (const page of [1, 2]) yield await this._page({ path, page }); },
      async _page({ path, page }) { return this._url(path) + "?page=" + page; } } };
    export default { name: "T", version: "1", props: { app, twin: { ...app } },
      methods: { async all(path) { const all = [];
        for await (const page of this.app.pages(path)) all.push(page); return all; } },
      async run() { return [await this.all("/rows"), this.twin._url("/x")]; } };`);
  const props = { app: { $auth: { domain: "a" } }, twin: { $auth: { domain: "b" } } };
  const { outcome } = await worker.run({ props });
  const pages = ["https://a/rows?page=1", "https://a/rows?page=2"];
  assert.deepEqual(outcome.value, [pages, "https://b/x"]);
});

Deno.test("the db keeps copies as JSON, deletes, and takes what JSON takes", async () => {
  await using worker = await startComponent(
    component(`
      this.db.set("date", new Date(0)); this.db.set("big", "x".repeat(200_000));
      this.db.set("nothing", null); this.db.set("k", 1); this.db.delete("k");
      await this.db.set("nested", { a: { b: [undefined, NaN] } });
      return [this.db.get("date"), this.db.get("big").length, this.db.get("nothing"),
        this.db.get("k") === undefined, this.db.get("nested")];`),
  );
  const { outcome } = await worker.run({ props: PROPS });
  const nested = { a: { b: [null, null] } };
  assert.deepEqual(outcome.value, [
    "1970-01-01T00:00:00.000Z",
    200_000,
    null,
    true,
    nested,
  ]);
});

Deno.test("the map has a bound, refused by the key's name, and can always be shrunk", async () => {
  await using worker = await startComponent(
    `export default { name: "T", version: "1", type: "action", props: { db: "$.service.db" }, run() {
      const told = [];
      const set = (key, value) => { try { this.db.set(key, value); } catch (error) { told.push(error.name + ": " + error.message); } };
      set("new", "x"); set("old", "xxxxxxxxx"); set("old", "xx"); set("new", "x"); set("é", "x");
      this.db.delete("old"); set("é", "x");
      return [told, this.db.get("new"), this.db.get("old") ?? null];
    } };`,
    { kv: { old: "xxxxxxxx" }, kv_limit_bytes: 13 },
  );
  const run = await worker.run();
  const [told, kept, deleted] = run.outcome.value;
  assert.equal(told.length, 3, run.outcome.error?.stack);
  assert.match(
    told[0],
    /^RangeError: db\.set: with "new", .* take 19 bytes; the limit is 13: delete some/,
  );
  assert.match(told[1], /with "old"/);
  assert.match(told[2], /with "new"|with "é"/);
  assert.equal(kept, "x");
  assert.equal(deleted, null);
});
