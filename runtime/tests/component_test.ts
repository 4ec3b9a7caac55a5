/** Every form in which a module can export its component. */

import assert from "node:assert/strict";
import { SpawnedWorker } from "./spawned_worker.ts";

const BODY = `{ name: "N", version: "1", run() { return this.greet(); },
  methods: { greet() { return "hello"; } } }`;

const FORMS: [name: string, file: string, source: string][] = [
  ["default object", "component.mjs", `export default ${BODY};`],
  ["defineComponent", "component.mjs", `export default defineComponent(${BODY});`],
  ["defineSource", "component.mjs", `export default defineSource(${BODY});`],
  ["defineAction", "component.mjs", `export default defineAction(${BODY});`],
  ["CommonJS", "component.cjs", `module.exports = ${BODY};`],
  [
    "compiled module",
    "component.cjs",
    `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = ${BODY};`,
  ],
  [
    "named exports",
    "component.mjs",
    `const c = ${BODY}; export const { run, methods } = c;`,
  ],
  ["TypeScript", "component.ts", `export default ${BODY} satisfies { name: string };`],
];

for (const [name, entry, source] of FORMS) {
  Deno.test(`a component exported as ${name} runs`, async () => {
    await using worker = await SpawnedWorker.start({
      files: { [entry]: source },
      entry,
    });
    const { outcome } = await worker.run();
    assert.equal(outcome.value, "hello", Deno.inspect(outcome));
  });
}

async function loadFailure(source: string) {
  await using worker = await SpawnedWorker.start({
    files: { "component.mjs": source },
  });
  return (await worker.frame((frame) => frame.type === "load_failed")).error;
}

Deno.test("a module without a component says so", async () => {
  const missing = await loadFailure("export const x = 1;");
  assert.equal(missing.message, "the component has no default export");
  const wrong = await loadFailure("export default () => {};");
  assert.match(wrong.message, /default export is not an object but a function/);
});

Deno.test("a module that throws reports its own stack", async () => {
  const error = await loadFailure(`\nthrow new TypeError("at load");`);
  assert.equal(error.name, "TypeError");
  assert.match(error.stack, /component\.mjs:2:7/);
});

Deno.test("a syntax error names the place relative to the component", async () => {
  const error = await loadFailure("export default {\n  run( { }\n};");
  assert.match(error.message, /^SyntaxError: [^]*at component\.mjs:3:1/);
  assert.doesNotMatch(error.message + error.stack, /file:\/\//);
});

Deno.test("an import that leads nowhere is named", async () => {
  const error = await loadFailure(`import x from "./gone.mjs"; export default { x };`);
  assert.match(
    error.message,
    /Module not found "gone\.mjs"\.\n {4}at component\.mjs:1:15/,
  );
});

Deno.test("a module that exits while loading does not take the worker along", async () => {
  const error = await loadFailure("process.exit(3);");
  assert.equal(error.message, "process.exit(3) was called");
});

Deno.test("a source without run cannot be described nor run", async () => {
  const source = `export default { name: "x", version: "1" };`;
  await using worker = await SpawnedWorker.start({
    files: { "component.mjs": source },
  });
  const described = await worker.describe();
  assert.equal(described.type, "describe_failed");
  assert.equal(described.error.message, "the source has no run method");
  assert.equal(described.error.code, "NO_RUN");
  assert.equal(described.error.stack, "");
  assert.match((await worker.run()).outcome.error.message, /no run method/);
});

Deno.test("CommonJS names exist for bundled packages", async () => {
  const source = `export default { run() { return [__dirname, __filename]; } };`;
  await using worker = await SpawnedWorker.start({
    files: { "component.mjs": source },
  });
  const folder = `${worker.folder}/code`;
  assert.deepEqual((await worker.run()).outcome.value, [
    folder,
    `${folder}/component.mjs`,
  ]);
});
