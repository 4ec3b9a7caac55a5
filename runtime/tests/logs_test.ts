/** Output of component code becomes log frames, and never frames of another kind. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";

function source(body: string): string {
  return `export default { name: "T", version: "1", async run(event) { ${body} } };`;
}

async function linesOf(body: string, fields = {}): Promise<[string, string][]> {
  await using worker = await startComponent(source(body));
  const run = await worker.run(fields);
  assert.equal(run.outcome.error, undefined, Deno.inspect(run.outcome));
  return run.of("log").map(({ level, text }) => [level, text]);
}

Deno.test("console methods map to levels", async () => {
  assert.deepEqual(
    await linesOf(`console.log("a", { b: [1] }, 2); console.info("%s is %d", "x", 3);
      console.warn("w"); console.error("e"); console.debug("d"); console.assert(false, "no");
      console.dir({ deep: { a: { b: 1 } } }); console.count(); console.table([1].length);`),
    [
      ["info", "a { b: [ 1 ] } 2"],
      ["info", "x is 3"],
      ["warn", "w"],
      ["error", "e"],
      ["debug", "d"],
      ["error", "Assertion failed no"],
      ["info", "{ deep: { a: { b: 1 } } }"],
      ["info", "default: 1"],
      ["info", "1"],
    ],
  );
});

Deno.test("standard streams are logs", async () => {
  assert.deepEqual(
    await linesOf(`
      process.stdout.write("out\\n"); process.stderr.write("err\\n");
      const bytes = new TextEncoder().encode("é");
      Deno.stdout.writeSync(bytes.subarray(0, 1)); await Deno.stdout.write(bytes.subarray(1));
      Deno.stderr.writeSync(bytes);
      const writer = Deno.stdout.writable.getWriter(); await writer.write(bytes);`),
    [["info", "out"], ["error", "err"], ["info", "é"], ["error", "é"], ["info", "é"]],
  );
});

Deno.test("standard input is empty and stays the host's", async () => {
  const lines = await linesOf(`
    for await (const chunk of process.stdin) console.log("node", chunk);
    for await (const chunk of Deno.stdin.readable) console.log("web", chunk);
    console.log(await Deno.stdin.read(new Uint8Array(4)));`);
  assert.deepEqual(lines, [["info", "null"]]);
});

Deno.test("a logged error shows the component's paths", async () => {
  const [[level, text]] = await linesOf(`console.error(new Error("x"));`) as [
    [string, string],
  ];
  assert.equal(level, "error");
  assert.match(text, /^Error: x\n {4}at .*component\.mjs:1:\d+\)?$/);
});

Deno.test("logs stop at the limit with one notice", async () => {
  const lines = await linesOf(
    `console.log("12345"); console.log("ééé"); console.log("x"); console.log("y");`,
    { log_limit_bytes: 10 },
  );
  assert.deepEqual(lines, [
    ["info", "12345"],
    ["info", "éé"],
    ["warn", "logs truncated: the run's limit of 10 bytes is used up"],
  ]);
});

Deno.test("logs while the module loads belong to no run", async () => {
  await using worker = await startComponent(`console.log("loading"); ${source("")}`);
  await worker.frame((frame) => frame.type === "loaded");
  assert.deepEqual(worker.logs().map(({ id, text }) => [id, text]), [[
    null,
    "loading",
  ]]);
});

Deno.test("values that refuse to be shown do not fail the run", async () => {
  const [line] = await linesOf(
    `console.log({ [Symbol.for("Deno.customInspect")]() { throw new Error("no"); } });`,
  );
  assert.match(line![1], /cannot be shown: no/);
});
