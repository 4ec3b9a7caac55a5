/** The process as component code finds it: variables, temporary files, self alias. */

import assert from "node:assert/strict";
import { SpawnedWorker, startComponent } from "./spawned_worker.ts";

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

Deno.test("hard-coded /tmp paths land in the worker's folder", async () => {
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
    [`${worker.folder}/tmp`, "a", false, "/tmp/b", true],
    error?.stack,
  );
  assert.equal(await Deno.readTextFile(`${worker.folder}/tmp/headwater-d`), "/tmp/b");
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

function serveSocket(path: string): Deno.HttpServer<Deno.UnixAddr> {
  return Deno.serve({ path, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = await request.text();
    const host = request.headers.get("host");
    return Response.json([request.method, host, pathname + search, body]);
  });
}

const SELF_ALIAS = `
  import http from "node:http"; import https, { get as namedGet } from "node:https";
  const get = (module, ...args) => new Promise((resolve, reject) => {
    module.get(...args, (response) => { let text = ""; response.on("data", (d) => text += d);
      response.on("end", () => resolve(JSON.parse(text))); }).on("error", reject);
  });
  const post = () => new Promise((resolve, reject) => {
    const request = https.request({ method: "POST", hostname: "api.example.com", port: 443, path: "/v1/p",
      headers: { "content-type": "text/plain" }, agent: new https.Agent() }, (response) => {
        let text = ""; response.on("data", (d) => text += d); response.on("end", () => resolve(JSON.parse(text))); });
    request.on("error", reject); request.end("body");
  });
  export default { async run() {
    const url = "https://api.example.com/v1/x?y=1";
    return [await (await fetch(url)).json(),
      await (await fetch(new Request(url, { method: "PUT", body: "b" }))).json(),
      await get(https, url), await get({ get: namedGet }, new URL(url), { headers: {} }), await get(http, "http://API.example.com/h"),
      await post(), await fetch("http://127.0.0.1:8099/").catch((error) => error.message),
      await get(http, "http://127.0.0.1:8099/").catch((error) => error.message)];
  } };`;

Deno.test("aliased hosts are reached over the socket, others as before", async () => {
  const folder = await Deno.makeTempDir();
  const socket = `${folder}/api.sock`;
  const server = serveSocket(socket);
  {
    await using worker = await SpawnedWorker.start({
      files: { "component.mjs": SELF_ALIAS },
      sharedPath: socket,
      load: { self_alias: ["api.example.com"], api_socket: socket },
    });
    const { value, error } = (await worker.run()).outcome;
    const get = ["GET", "api.example.com", "/v1/x?y=1", ""];
    assert.equal(error, undefined, Deno.inspect(error));
    assert.deepEqual(value.slice(0, 6), [
      get,
      ["PUT", "api.example.com", "/v1/x?y=1", "b"],
      get,
      get,
      ["GET", "api.example.com", "/h", ""],
      ["POST", "api.example.com", "/v1/p", "body"],
    ]);
    assert.match(value[6], /Requires net access/);
    assert.match(value[7], /Requires net access/);
  }
  await server.shutdown();
  await Deno.remove(folder, { recursive: true });
});
