/** The global object, addresses, files and requests as packages for Node find them. */

import assert from "node:assert/strict";
import { SpawnedWorker, startComponent } from "./spawned_worker.ts";

Deno.test("what browsers have and Node has not is not there", async () => {
  await using worker = await startComponent(`
    const names = ["self", "window", "Window", "alert", "confirm", "prompt", "close", "name", "location", "localStorage",
      "sessionStorage", "Storage", "caches", "CacheStorage", "GPU", "GPUAdapter", "Worker", "OffscreenCanvas", "DOMMatrix"];
    export default { async run() {
      return [names.filter((name) => name in globalThis), "gpu" in navigator, Object.prototype.toString.call(globalThis),
        navigator.userAgent, typeof setTimeout, typeof fetch, typeof Event, typeof navigator.hardwareConcurrency];
    } };`);
  const { value, error } = (await worker.run()).outcome;
  const expected = [[], false, "[object global]", value?.[3]];
  assert.deepEqual(
    value,
    [...expected, "function", "function", "function", "number"],
    error?.stack,
  );
  assert.match(value[3], /^Node\.js\/\d+$/);
});

Deno.test("Node's own modules go on working without them", async () => {
  await using worker = await startComponent(`
    import { EventEmitter, once } from "node:events"; import { promisify } from "node:util"; import zlib from "node:zlib";
    import { pipeline } from "node:stream/promises"; import { Readable, Writable } from "node:stream"; import crypto from "node:crypto";
    import { Worker } from "node:worker_threads"; import { performance } from "node:perf_hooks"; import process from "node:process";
    process.on("uncaughtException", () => {});
    export default { async run() {
      let text = ""; const emitter = new EventEmitter(); const emitted = once(emitter, "x"); setTimeout(() => emitter.emit("x", 1), 1);
      await pipeline(Readable.from(["a", "b"]), new Writable({ write(chunk, _, done) { text += chunk; done(); } }));
      const unzipped = zlib.gunzipSync(await promisify(zlib.gzip)("z")).toString();
      return [await emitted, text, unzipped, crypto.createHash("md5").update("x").digest("hex").length,
        performance.now() > 0, structuredClone({ a: 1 }), new URL("http://x/y").pathname, await new Response("r").text(), typeof Worker];
    } };`);
  const { value, error } = (await worker.run()).outcome;
  assert.deepEqual(
    value,
    [[1], "ab", "z", 32, true, { a: 1 }, "/y", "r", "function"],
    error?.stack,
  );
});

Deno.test("what is not a URL is refused in Node's words", async () => {
  await using worker = await startComponent(`
    import { createRequire } from "node:module";
    const { URL: Required } = createRequire(import.meta.url)("url");
    class Own extends URL {}
    export default { run() {
      const told = [];
      for (const make of [() => new URL("x"), () => new Required("x"), () => new URL("//", "y"), () => new Own("x")]) {
        try { make(); } catch (error) { told.push([error instanceof TypeError, error.message, error.code, error.input, error.base ?? null]); }
      }
      const made = new Own("http://a/b");
      return [told, made instanceof URL, made instanceof Own, made.constructor === Own, new URL("http://a").constructor === URL, URL.canParse("x")];
    } };`);
  const { value, error } = (await worker.run()).outcome;
  const refused = [true, "Invalid URL", "ERR_INVALID_URL"];
  const x = [...refused, "x", null];
  assert.deepEqual(
    value,
    [[x, x, [...refused, "//", "y"], x], true, true, true, true, false],
    error?.stack,
  );
});

Deno.test("fetch says that it is Node's, unless the component says otherwise", async () => {
  const agents: (string | null)[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => {
      agents.push(request.headers.get("user-agent"));
      return new Response(request.body ?? "none");
    },
  );
  await using worker = await SpawnedWorker.start({
    files: {
      "component.mjs": `export default { async run() {
        const url = "http://127.0.0.1:${server.addr.port}/";
        await fetch(url).then((answer) => answer.text());
        await fetch(url, { headers: { "User-Agent": "mine" } }).then((answer) => answer.text());
        await fetch(new Request(url, { headers: { "user-agent": "also mine" } })).then((answer) => answer.text());
        return await fetch(new Request(url, { method: "POST", body: "sent" })).then((answer) => answer.text());
      } };`,
    },
    mayReachMachine: true,
  });
  const { value, error } = (await worker.run()).outcome;
  assert.equal(value, "sent", error?.stack);
  assert.deepEqual(agents, ["node", "mine", "also mine", "node"]);
});

Deno.test("/tmp is called /tmp in results and errors", async () => {
  await using worker = await startComponent(`
    import fs, { mkdtempSync, readFileSync, realpathSync } from "fs"; import os from "os"; import path from "path";
    import { mkdtemp, readFile, realpath } from "fs/promises"; import { promisify } from "util";
    const told = [];
    const tell = (error) => told.push([error.message, error.path, error.stack.split("\\n")[0]].join("|"));
    export default { async run() {
      const made = [mkdtempSync(path.join(os.tmpdir(), "a-")), await mkdtemp("/tmp/a-"), await promisify(fs.mkdtemp)("/tmp/a-"), realpathSync("/tmp"),
        realpathSync.native("/tmp"), await realpath("/tmp"), os.tmpdir(), process.env.TMPDIR];
      fs.writeFileSync(path.join(made[0], "x"), "kept");
      try { readFileSync("/tmp/none.txt"); } catch (error) { tell(error); }
      await readFile("/tmp/none.txt").catch(tell);
      await new Promise((resolve) => fs.readFile("/tmp/none.txt", (error) => resolve(tell(error))));
      return { made, told, read: readFileSync(made[0] + "/x", "utf8") };
    } };`);
  const { value, error } = (await worker.run()).outcome;
  assert.equal(value?.read, "kept", error?.stack);
  for (const made of value.made.slice(0, 3)) assert.match(made, /^\/tmp\/a-\w{6}$/);
  assert.deepEqual(value.made.slice(3), ["/tmp", "/tmp", "/tmp", "/tmp", "/tmp"]);
  assert.equal(value.told.length, 3);
  for (const told of value.told) {
    assert.match(
      told,
      /^ENOENT: no such file or directory, \w+ '\/tmp\/none\.txt'\|\/tmp\/none\.txt\|/,
    );
    assert.ok(!told.includes(worker.folder), told);
  }
});

Deno.test("a refusal that a component catches advises no flag", async () => {
  await using worker = await startComponent(`
    import fs from "fs"; import { readFile } from "fs/promises";
    export default { async run() {
      const told = [];
      const tell = (error) => told.push(error.message + (error.cause?.message ?? "") + error.stack);
      try { fs.readFileSync("/etc/hostname"); } catch (error) { tell(error); }
      try { fs.writeFileSync("/etc/x", ""); } catch (error) { tell(error); }
      await readFile("/etc/hostname").catch(tell);
      await new Promise((resolve) => fs.readFile("/etc/hostname", (error) => resolve(tell(error))));
      await fetch("http://127.0.0.1:4321/").catch(tell);
      return told;
    } };`);
  const { value, error } = (await worker.run()).outcome;
  assert.equal(value?.length, 5, error?.stack);
  for (const told of value) {
    assert.doesNotMatch(told, /run again|--allow-(read|write|net)/);
  }
  assert.match(value[0], /components read their own code and \/tmp/);
  assert.match(value[1], /components write to \/tmp/);
  assert.match(value[4], /private address/);
});
