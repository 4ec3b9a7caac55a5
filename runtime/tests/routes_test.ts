/** Host names with routes: to a socket of the machine, or to an address. */

import assert from "node:assert/strict";
import { SpawnedWorker } from "./spawned_worker.ts";

function serveSocket(path: string): Deno.HttpServer<Deno.UnixAddr> {
  return Deno.serve({ path, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = await request.text();
    const host = request.headers.get("host");
    return Response.json([request.method, host, pathname + search, body]);
  });
}

const OVER_SOCKET = `
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

Deno.test("hosts with a socket are reached over it, others as before", async () => {
  const folder = await Deno.makeTempDir();
  const socket = `${folder}/api.sock`;
  const server = serveSocket(socket);
  {
    await using worker = await SpawnedWorker.start({
      files: { "component.mjs": OVER_SOCKET },
      sharedPath: socket,
      routes: [{ host: "api.example.com", socket }],
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

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const host = request.headers.get("host");
  const authorization = request.headers.get("authorization");
  switch (pathname) {
    case "/away":
      return Response.redirect("http://other.example.com:81/arrived", 307);
    case "/see-other":
      return new Response(null, { status: 303, headers: { location: "/arrived" } });
    case "/loop":
      return new Response(null, { status: 302, headers: { location: "/loop" } });
    case "/nothing":
      return new Response(null, { status: 204 });
    case "/packed": {
      const text = new Blob([JSON.stringify("unpacked")]).stream();
      const headers = { "content-encoding": "gzip", "x-kept": "yes" };
      return new Response(text.pipeThrough(new CompressionStream("gzip")), { headers });
    }
    default: {
      const text = await request.text();
      const type = request.headers.get("content-type");
      return Response.json([request.method, host, pathname, text, type, authorization]);
    }
  }
}

const TO_ADDRESS = `
  import http, { get as namedGet } from "node:http"; import net from "node:net";
  const get = (get, ...args) => new Promise((resolve, reject) => get(...args, (response) => {
    let text = ""; response.on("data", (d) => text += d); response.on("end", () => resolve(JSON.parse(text))); }).on("error", reject));
  const raw = (...args) => new Promise((resolve, reject) => {
    const socket = net.connect(...args, () => socket.end("GET /raw HTTP/1.0\\r\\nhost: raw\\r\\n\\r\\n"));
    let text = ""; socket.on("data", (d) => text += d).on("end", () => resolve(text.split("\\r\\n").at(-1))).on("error", reject); });
  const url = "http://API.example.com/x";
  const post = { method: "POST", body: new URLSearchParams({ a: "b" }), headers: { authorization: "secret" } };
  const tried = (promise) => promise.then((value) => value, (error) => [error.name, error.message]);
  const DEEDS = {
    fetched: async () => await (await fetch(url)).json(),
    posted: async () => await (await fetch(new Request(url, post))).json(),
    moved: async () => { const r = await fetch("http://api.example.com/away", post); return [r.url, r.redirected, await r.json()]; },
    seen: async () => await (await fetch("http://api.example.com/see-other", post)).json(),
    manual: async () => (await fetch("http://api.example.com/away", { redirect: "manual" })).status,
    forbidden: () => tried(fetch("http://api.example.com/away", { redirect: "error" })),
    loop: () => tried(fetch("http://api.example.com/loop")),
    nothing: async () => { const r = await fetch("http://api.example.com/nothing"); return [r.status, r.body]; },
    unpacked: async () => { const r = await fetch("http://api.example.com/packed");
      return [await r.json(), r.headers.get("content-encoding"), r.headers.get("x-kept")]; },
    aborted: () => tried(fetch(url, { signal: AbortSignal.abort(new Error("enough")) })),
    refused: () => tried(fetch("http://closed.example.com/")),
    got: () => get(http.get, url, { agent: new http.Agent({ keepAlive: true }) }),
    named: () => get(namedGet, { host: "api.example.com", port: 81, path: "/named" }),
    socket: () => raw(82, "api.example.com"), socketOptions: () => raw({ host: "api.example.com", port: 82 }),
  };
  export default { async run() {
    const done = {};
    for (const [name, deed] of Object.entries(DEEDS)) done[name] = await deed();
    return done;
  } };`;

Deno.test("hosts with an address are reached there, by fetch, HTTP and sockets", async () => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  const { port } = server.addr;
  const address = "127.0.0.1";
  const host = "api.example.com";
  {
    await using worker = await SpawnedWorker.start({
      files: { "component.mjs": TO_ADDRESS },
      mayReachMachine: true,
      routes: [
        { host, address, port },
        { host: "other.example.com", address, port },
        { host: "closed.example.com", address, port: 1 },
      ],
    });
    const { value, error } = (await worker.run()).outcome;
    assert.equal(error, undefined, Deno.inspect(error));
    const form = "application/x-www-form-urlencoded;charset=UTF-8";
    const elsewhere = "http://other.example.com:81/arrived";
    assert.deepEqual(value, {
      fetched: ["GET", host, "/x", "", null, null],
      posted: ["POST", host, "/x", "a=b", form, "secret"],
      // Credentials for one origin are not sent to another.
      moved: [elsewhere, true, [
        "POST",
        "other.example.com:81",
        "/arrived",
        "a=b",
        form,
        null,
      ]],
      seen: ["GET", host, "/arrived", "", null, "secret"],
      manual: 307,
      forbidden: [
        "TypeError",
        "http://api.example.com/away redirects, which the request forbids",
      ],
      loop: ["TypeError", "more than 20 redirects"],
      nothing: [204, null],
      unpacked: ["unpacked", null, "yes"],
      aborted: ["Error", "enough"],
      refused: [
        "TypeError",
        "error sending request for url (http://closed.example.com/)",
      ],
      got: ["GET", host, "/x", "", null, null],
      named: ["GET", "api.example.com:81", "/named", "", null, null],
      socket: '["GET","raw","/raw","",null,null]',
      socketOptions: '["GET","raw","/raw","",null,null]',
    });
  }
  await server.shutdown();
});

Deno.test("an address is out of reach when the sandbox says so", async () => {
  await using worker = await SpawnedWorker.start({
    files: {
      "component.mjs": `export default { run() {
        return fetch("http://api.example.com/").catch((error) => error.cause.message); } };`,
    },
    routes: [{ host: "api.example.com", address: "127.0.0.1", port: 8099 }],
  });
  assert.match((await worker.run()).outcome.value, /Requires net access/);
});
