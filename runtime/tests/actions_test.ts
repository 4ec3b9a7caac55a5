/** The `$` of an action, and its effects that leave the worker. */

import assert from "node:assert/strict";
import { SpawnedWorker, startComponent } from "./spawned_worker.ts";

function action(body: string): string {
  return `export default { name: "T", version: "1", type: "action",
    props: { text: { type: "string" } },
    async run({ steps, $ }) { ${body} } };`;
}

Deno.test("exports leave in order, and the return value with the outcome", async () => {
  await using worker = await startComponent(action(`
    $.export("first", { a: steps.before.$return_value });
    $.export("$summary", "Did " + this.text);
    $.export("nothing");
    return $.context.id;`));
  const run = await worker.run({
    props: { text: "it" },
    event: { steps: { before: { $return_value: 7 } }, context: { id: "inv_1" } },
  });
  assert.deepEqual(run.of("export").map(({ key, value }) => [key, value]), [
    ["first", { a: 7 }],
    ["$summary", "Did it"],
    ["nothing", undefined],
  ]);
  assert.equal(run.outcome.value, "inv_1");
  assert.deepEqual(run.of("exit"), []);
});

Deno.test("an exit is told with its reason, returned or not", async () => {
  await using worker = await startComponent(action(`
    if (this.text === "returned") return $.flow.exit("enough");
    $.flow.exit(); return 1;`));
  const returned = await worker.run({ props: { text: "returned" } });
  assert.deepEqual(returned.of("exit").map(({ text }) => text), ["enough"]);
  assert.equal(returned.outcome.value, undefined);
  const noted = await worker.run({ props: { text: "" } });
  assert.deepEqual(noted.of("exit").map(({ text }) => text), [""]);
  assert.equal(noted.outcome.value, 1);
});

Deno.test("what needs a workflow says so, by name", async () => {
  await using worker = await startComponent(action(`
    const calls = [() => $.respond({ status: 200 }), () => $.flow.delay(1), () => $.flow.suspend(),
      () => $.flow.rerun(1), () => $.send.http({}), () => $.send.email({}), () => $.send.s3({}),
      () => $.send.emit({}), () => $.send.sse({})];
    return calls.map((call) => { try { call(); } catch (error) { return error.message; } });`));
  const { outcome } = await worker.run();
  assert.equal(outcome.value.length, 9);
  assert.equal(
    outcome.value[4],
    "$.send.http works in workflows only; this action is run alone",
  );
});

Deno.test("an export that is no JSON is an error of the run that names it", async () => {
  await using worker = await startComponent(action(`$.export("big", 1n);`));
  assert.match((await worker.run()).outcome.error.message, /\$\.export: "big"/);
});

Deno.test("what is exported of a streamed response holds no credentials", async () => {
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response("no", { status: 400 }),
  );
  await using worker = await SpawnedWorker.start({
    files: {
      "component.mjs": `import http from "node:http";
        export default { type: "action", name: "T", version: "1", async run({ $ }) {
          const options = { headers: { Authorization: "Bearer SECRET", "X-Api-Key": "SECRET" } };
          const response = await new Promise((resolve) => http.get("http://127.0.0.1:${server.addr.port}/", options, resolve));
          const known = new WeakSet();
          // As packages make plain copies of what refers to itself.
          const copy = JSON.parse(JSON.stringify(response, (_, value) => {
            if (typeof value !== "object" || value === null) return value;
            if (known.has(value)) return "[Circular]";
            known.add(value);
            return typeof value.toJSON === "function" ? null : value;
          }));
          if (!JSON.stringify(copy).includes("SECRET")) throw new Error("the copy holds none");
          $.export("debug", copy); $.export("nested", { data: [copy], kept: { a: 1 } });
          console.log({ config: {}, status: 400, headers: {}, data: response });
          throw { isAxiosError: true, message: "failed", response: { status: 400, data: response } };
        } };`,
    },
    mayReachMachine: true,
  });
  const run = await worker.run();
  assert.ok(!JSON.stringify(run.frames).includes("SECRET"), JSON.stringify(run.frames));
  const [debug, nested] = run.of("export").map((frame) => frame.value);
  assert.equal(debug.statusCode, 400, run.outcome.error?.stack);
  assert.deepEqual(nested.kept, { a: 1 });
  assert.equal(nested.data[0].statusCode, 400);
});
