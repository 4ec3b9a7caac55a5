/** Assumptions of packages written for Node, and the refusals of features that they cannot have. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";

Deno.test("a file that may not be read is not there, in every way of asking", async () => {
  await using worker = await startComponent(`
    import fs, { existsSync } from "fs"; import { createRequire } from "module"; import { promisify } from "util";
    const required = createRequire(import.meta.url)("fs");
    export default { async run() {
      const called = await new Promise((resolve) => fs.exists("/etc/hostname", resolve));
      return [existsSync("/etc/hostname"), required.existsSync("/etc/hostname"), called,
        await promisify(fs.exists)("/etc/hostname"), existsSync(import.meta.filename)];
    } };`);
  const { value, error } = (await worker.run()).outcome;
  assert.deepEqual(value, [false, false, false, false, true], error?.stack);
});

Deno.test("starting a process is refused in every way with what was to be started", async () => {
  await using worker = await startComponent(`
    import { exec, spawnSync } from "child_process"; import { createRequire } from "module"; import { promisify } from "util";
    const { execSync, spawn, fork } = createRequire(import.meta.url)("node:child_process");
    export default { async run() {
      const told = [];
      for (const start of [() => promisify(exec)("ls -l"), () => spawnSync("ls", []), () => execSync("ls"), () => spawn("ls"), () => fork("x.js")]) {
        try { await start(); } catch (error) { told.push(error.code + ": " + error.message); }
      }
      return told;
    } };`);
  const { value, error } = (await worker.run()).outcome;
  const expected = [
    'exec("ls -l")',
    'spawnSync("ls")',
    'execSync("ls")',
    'spawn("ls")',
  ];
  assert.deepEqual(
    value,
    [...expected, 'fork("x.js")'].map((call) =>
      `ERR_ACCESS_DENIED: components cannot start processes: child_process.${call}`
    ),
    error?.stack,
  );
});

Deno.test("a deprecated built-in is used without a word in the log", async () => {
  await using worker = await startComponent(`
    import { createRequire } from "module";
    export default { run() { return typeof createRequire(import.meta.url)("punycode").toASCII; } };`);
  const run = await worker.run();
  assert.equal(run.outcome.value, "function", run.outcome.error?.stack);
  assert.deepEqual(worker.logs(), []);
});
