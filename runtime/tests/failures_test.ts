/** The reports of values that components throw and log. */

import assert from "node:assert/strict";
import { SpawnedWorker, startComponent } from "./spawned_worker.ts";

function source(body: string): string {
  return `export default { name: "T", version: "1", async run(event) { ${body} } };`;
}

const AXIOS = `
  const config = { url: "https://a.example", headers: { Authorization: "Bearer hunter2" } };
  const response = { status: 403, statusText: "Forbidden", headers: {}, config,
    request: { _header: "Authorization: Bearer hunter2" }, data: { why: "no scope" } };
  const error = Object.assign(new Error("Request failed with status code 403"), {
    name: "AxiosError", isAxiosError: true, code: "ERR_BAD_REQUEST", config, response,
    request: response.request });`;

Deno.test("causes and gathered errors are told with the error", async () => {
  await using worker = await startComponent(source(`
    switch (event) {
      case "cause": throw new Error("outer", { cause: new TypeError("inner", { cause: "root" }) });
      case "gathered": await Promise.any([Promise.reject(new Error("a")), Promise.reject("b")]);
      case "circular": { const e = new Error("loop"); e.cause = e; throw e; }
      case "frozen": throw Object.freeze(new RangeError("cold"));
    }`));
  const errorOf = async (event: string) => (await worker.run({ event })).outcome.error;
  const { message, stack } = await errorOf("cause");
  assert.equal(message, "outer");
  assert.match(
    stack,
    /^Error: outer\n {4}at .*component\.mjs.*\nCaused by: TypeError: inner\n[^]*\nCaused by: "root"$/,
  );
  const gathered = await errorOf("gathered");
  assert.match(gathered.stack, /One of: Error: a\n[^]*\nOne of: "b"/);
  assert.equal((await errorOf("circular")).stack.split("Caused by").length, 6);
  const frozen = await errorOf("frozen");
  assert.deepEqual([frozen.name, frozen.message], ["RangeError", "cold"]);
});

Deno.test("stacks have no frames of modules that the runtime has built in", async () => {
  await using worker = await startComponent(source(`
    if (event === "address") return new URL("nowhere");
    const reason = Object.assign(new Error("getaddrinfo ENOTFOUND a.example"), {
      code: "ENOTFOUND",
      stack: "Error: getaddrinfo ENOTFOUND a.example\\n" +
        "    at GetAddrInfoReqWrap.onlookupall [as oncomplete] (node:dns:122:26)\\n" +
        "    at lookup (ext:deno_node/internal/dns.ts:9:1)\\n    at ext:deno_node/_next.ts:1:1\\n" +
        "    at async node:internal/dns:3:1\\n    at async Promise.all (index 0)\\n" +
        "    at ask (file:///npm/client.js:3:1)",
    });
    const cause = { "reason": reason, "code": { code: "ECONNREFUSED", message: "" } }[event];
    throw new TypeError(event === "other" ? "no" : "fetch failed", { cause });`));
  const errorOf = async (event: string) => (await worker.run({ event })).outcome.error;
  const { stack: ofAddress } = await errorOf("address");
  assert.match(ofAddress, /^TypeError: .*\n {4}at .*component\.mjs:2:/);
  assert.doesNotMatch(ofAddress, /ext:/);
  const failed = await errorOf("reason");
  assert.equal(failed.message, "fetch failed: getaddrinfo ENOTFOUND a.example");
  const frames = failed.stack.split("Caused by: ")[1].split("\n");
  assert.deepEqual(frames, [
    "Error: getaddrinfo ENOTFOUND a.example",
    "    at async Promise.all (index 0)",
    "    at ask (file:///npm/client.js:3:1)",
  ]);
  assert.equal((await errorOf("code")).message, "fetch failed: ECONNREFUSED");
  assert.equal((await errorOf("none")).message, "fetch failed");
  assert.equal((await errorOf("other")).message, "no");
});

Deno.test("the status of the response that an error is about is told, wherever clients put it", async () => {
  await using worker = await startComponent(source(`
    switch (event) {
      case "axios": throw Object.assign(new Error("no"), { status: 500, response: { status: 401 } });
      case "status": throw Object.assign(new Error("no"), { status: 403 });
      case "statusCode": throw Object.assign(new Error("no"), { statusCode: 404 });
      case "cause": throw new Error("no", { cause: { response: { status: 429 } } });
      case "text": throw Object.assign(new Error("no"), { status: "failed", code: 7 });
      case "none": throw new Error("no");
    }`));
  for (
    const [event, status] of [
      ["axios", 401],
      ["status", 403],
      ["statusCode", 404],
      ["cause", 429],
      ["text", undefined],
      ["none", undefined],
    ]
  ) {
    const { error } = (await worker.run({ event })).outcome;
    assert.equal(error.status, status, String(event));
  }
});

Deno.test("a ConfigurationError that keeps its stack to itself has none", async () => {
  await using worker = await startComponent(source(`
    class ConfigurationError extends Error {
      constructor(message, exposeStack = false) {
        super(message); this.name = "ConfigurationError"; this.exposeStack = exposeStack; }
    }
    throw new ConfigurationError("choose a channel", event);`));
  const { error } = (await worker.run({ event: false })).outcome;
  assert.deepEqual([error.name, error.message, error.stack], [
    "ConfigurationError",
    "choose a channel",
    "",
  ]);
  const exposed = (await worker.run({ event: true })).outcome.error;
  assert.match(
    exposed.stack,
    /^ConfigurationError: choose a channel\n.*component\.mjs/,
  );
});

Deno.test("credentials of a request are neither thrown nor logged", async () => {
  await using worker = await startComponent(source(`${AXIOS}
    console.log("failed:", error); console.dir(response); console.log("%o", error);
    if (event === "response") throw response;
    throw event === "inner" ? new Error("outer", { cause: error }) : error;`));
  for (const event of ["error", "response", "inner"]) {
    const run = await worker.run({ event });
    const told = JSON.stringify(run.frames);
    assert.doesNotMatch(told, /hunter2/);
    assert.match(told, /no scope/);
    assert.match(run.of("log")[0]!.text, /failed: .*AxiosError.*: Request failed/);
    assert.match(run.of("log")[1]!.text, /status: 403/);
  }
});

Deno.test("stacks lead through awaits into the lines of the component's files", async () => {
  await using worker = await SpawnedWorker.start({
    entry: "component.ts",
    files: {
      "component.ts": `import { fetchRow } from "./rows.ts";
interface Row { id: number }
export default {
  name: "T", version: "1",
  methods: { async row(): Promise<Row> { return await fetchRow(7); } },
  async run() { await new Promise((done) => setTimeout(done, 1)); await this.row(); },
};`,
      "rows.ts": `type Id = number;

export async function fetchRow(id: Id): Promise<never> {
  await null;
  throw new TypeError("no row " + id);
}`,
    },
  });
  const { stack } = (await worker.run()).outcome.error;
  assert.deepEqual(stack.split("\n").map((line: string) => line.trim()), [
    "TypeError: no row 7",
    "at fetchRow (rows.ts:5:9)",
    "at async Component.row (component.ts:5:49)",
    "at async Component.run (component.ts:6:67)",
  ]);
});

Deno.test("anything can be logged", async () => {
  await using worker = await startComponent(source(`
    const circular = { name: "c" }; circular.self = circular;
    console.log(circular, new Map([[1, { a: new Set([2]) }]]), null, undefined, 1n, Symbol("s"));
    console.error(new Error("shown", { cause: new Error("why") }));
    console.log("%s has %d of %j", "a", 3, { b: 1 }, "rest");
    console.log(() => {}, class A {}, new Proxy({}, {}), Object.create(null), [ , 1]);
    console.log();`));
  const logs = (await worker.run()).of("log").map((frame) => frame.text);
  assert.match(logs[0], /name: "c", self: \[Circular/);
  assert.match(logs[0], /Map\(1\).*Set\(1\).* null undefined 1n Symbol\(s\)/);
  assert.match(logs[1], /Error: shown[^]*component\.mjs[^]*why/);
  assert.equal(logs[2], `a has 3 of {"b":1} rest`);
  assert.equal(logs.length, 5);
});

Deno.test("an emit on the platform's own channel fails the run where it was called", async () => {
  await using worker = await startComponent(`
    export default { name: "T", version: "1", run() {
      this.$emit({}, { name: "$errors" });
      this.$emit({}, { name: "mine" }); return 1; } };`);
  const run = await worker.run();
  const { error } = run.outcome;
  assert.equal(error?.name, "EmitError");
  assert.match(error.message, /`\$errors` is the platform's own channel/);
  assert.match(error.stack, /^EmitError: .*\n.*component\.mjs:3:12/s);
  assert.deepEqual(run.of("emit").map((frame) => frame.options.name), ["mine"]);
});
