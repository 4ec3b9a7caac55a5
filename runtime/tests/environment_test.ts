/** The process as component code sees it: variables, temporary files. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";

Deno.test("only the given variables are in the environment", async () => {
  await using worker = await startComponent(
    `export default { run() { return Object.keys(process.env).sort().concat(process.env.PD_COMPONENT, [process.env.NONE === undefined]); } };`,
    { env: { PD_COMPONENT: "dc_1" } },
  );
  const { value } = (await worker.run()).outcome;
  assert.deepEqual(value, ["PD_COMPONENT", "TMPDIR", "dc_1", true]);
});

Deno.test("packages written for Node find __proto__", async () => {
  await using worker = await startComponent(`
    function Child() {} Child.prototype.__proto__ = { inherited: 1 };
    export default { run() { return [new Child().inherited, ({}).__proto__ === Object.prototype]; } };`);
  assert.deepEqual((await worker.run()).outcome.value, [1, true]);
});

Deno.test("hard-coded /tmp paths land in the component's folder", async () => {
  await using worker = await startComponent(`
    import fs from "node:fs"; import os from "node:os"; import { pipeline } from "node:stream/promises";
    export default { async run() {
      fs.writeFileSync("/tmp/headwater-a", "a");
      await fs.promises.writeFile("/tmp/headwater-b", "/tmp/b");
      await pipeline(fs.createReadStream("/tmp/headwater-b"), fs.createWriteStream("/tmp/headwater-c"));
      await Deno.rename("/tmp/headwater-c", "/tmp/headwater-d");
      return [os.tmpdir(), Deno.readTextFileSync("/tmp/headwater-a"), fs.existsSync("/tmp/headwater-c"),
        fs.readFileSync(new URL("file:///tmp/headwater-d"), "utf8"), fs.readFileSync(__filename).length > 0];
    } };`);
  const { value, error } = (await worker.run()).outcome;
  assert.deepEqual(
    value,
    ["/tmp", "a", false, "/tmp/b", true],
    error?.stack,
  );
  assert.equal(
    await Deno.readTextFile(`${worker.folder}/tmp/.component-1/headwater-d`),
    "/tmp/b",
  );
});

Deno.test("functions imported by name are redirected too", async () => {
  await using worker = await startComponent(`
    import { createReadStream, writeFileSync, constants } from "fs";
    import { readFile, constants as same } from "node:fs/promises";
    import { setInterval } from "node:timers"; import { Agent, request } from "https";
    export default { async run() {
      writeFileSync("/tmp/headwater-named", "n"); let text = "";
      for await (const chunk of createReadStream("/tmp/headwater-named")) text += chunk;
      setInterval(() => {}, 1);
      return [text, await readFile("/tmp/headwater-named", "utf8"), constants.R_OK, same.R_OK,
        setInterval === globalThis.setInterval, typeof Agent, typeof request];
    } };`);
  const { value, error } = (await worker.run()).outcome;
  assert.deepEqual(value, ["n", "n", 4, 4, true, "function", "function"], error?.stack);
});
