/** Runs with a time of their own, and with marked requests, as tests of workflows have them. */

import assert from "node:assert/strict";
import { SpawnedWorker, startComponent } from "./spawned_worker.ts";
import { answersOf, codeStep, expression, runStep } from "./workflow_host.ts";

const NOW = Date.parse("2031-05-01T10:00:00Z");
const CLOCKS = `return [Date.now(), new Date().getTime(), Date.parse(Date()),
  new (class extends Date {})().getTime(), new Date(5).getTime(), Date.UTC(1970, 0, 1),
  new Date() instanceof Date, new Date().constructor === Date];`;

Deno.test("code and expressions see the time of their run, and others the machine's", async () => {
  await using worker = await startComponent(codeStep(CLOCKS));
  const before = await runStep(worker);
  assert.ok(Math.abs(before.outcome.value[0] - Date.now()) < 600_000);
  const run = await runStep(worker, { simulated: { now_ms: NOW } });
  assert.deepEqual(run.outcome.value, [NOW, NOW, NOW, NOW, 5, 0, true, true]);
  const asked = [{ value: expression("Date.now()") }];
  assert.deepEqual(
    await answersOf(worker, asked, { simulated: { now_ms: NOW + 1 } }),
    [NOW + 1],
  );
  const after = await runStep(worker);
  assert.ok(Math.abs(after.outcome.value[1] - Date.now()) < 600_000);
});

Deno.test("the time of a run moves on by the delays of its timers alone", async () => {
  await using worker = await startComponent(codeStep(`
    const { promise, resolve } = Promise.withResolvers();
    const seen = [];
    setTimeout(() => seen.push(Date.now() - ${NOW}), 7);
    const timer = setInterval(() => {
      seen.push(Date.now() - ${NOW});
      if (seen.length === 3) { clearInterval(timer); resolve(); }
    }, 20);
    await promise;
    return seen;`));
  const run = await runStep(worker, { simulated: { now_ms: NOW } });
  assert.deepEqual(run.outcome.value, [7, 20, 40]);
});

const ASKING = `
  import http from "node:http";
  const get = (url, headers) => new Promise((resolve, reject) => {
    http.get(url, { headers }, (response) => { let text = ""; response.on("data", (d) => text += d);
      response.on("end", () => resolve(text)); }).on("error", reject);
  });
  export default { async run() {
    const url = "http://api.example.com/";
    return [await (await fetch(url, { headers: { "x-own": "1" } })).text(),
      await (await fetch(new Request(url, { method: "POST", body: "b" }))).text(),
      await get(url, { "x-own": "2" }), await get(url)];
  } };`;

Deno.test("requests over a socket carry the mark of their run, if it has one", async () => {
  const folder = await Deno.makeTempDir();
  const socket = `${folder}/api.sock`;
  const server = Deno.serve({ path: socket, onListen() {} }, async (request) => {
    const call = request.headers.get("x-headwater-call");
    return new Response(
      [request.method, call, request.headers.get("x-own"), await request.text()].join(),
    );
  });
  {
    await using worker = await SpawnedWorker.start({
      files: { "component.mjs": ASKING },
      sharedPath: socket,
      routes: [{ host: "*", socket }],
    });
    const marked = await runStep(worker, { simulated: { now_ms: NOW, call: "4" } });
    assert.deepEqual(
      marked.outcome.value,
      ["GET,4,1,", "POST,4,,b", "GET,4,2,", "GET,4,,"],
      Deno.inspect(marked.outcome.error),
    );
    const plain = await runStep(worker);
    assert.deepEqual(plain.outcome.value, ["GET,,1,", "POST,,,b", "GET,,2,", "GET,,,"]);
  }
  await server.shutdown();
  await Deno.remove(folder, { recursive: true });
});
