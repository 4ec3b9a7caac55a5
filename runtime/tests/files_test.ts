/** `$.files` of a step, with the host's service played by the test. */

import assert from "node:assert/strict";
import { type Run, SpawnedWorker } from "./spawned_worker.ts";
import { answerRequests, codeStep, FileService, runStep } from "./workflow_host.ts";

const MIB = 1024 * 1024;

/** Runs this code as a step with these files. */
async function withFiles(
  body: string,
  service: FileService,
  steps: Record<string, unknown> = {},
): Promise<Run> {
  await using worker = await SpawnedWorker.start({
    files: {
      "component.mjs":
        `import fs from "node:fs"; import { Readable, Writable } from "node:stream"; import { pipeline } from "node:stream/promises";
        ${codeStep(body)}`,
    },
    mayReachMachine: true,
  });
  answerRequests(worker, (request) => service.answer(request));
  const run = await runStep(worker, { steps: { trigger: { event: {} }, ...steps } });
  assert.equal(run.outcome.error, undefined, run.outcome.error?.stack);
  return run;
}

function serviceWith(files: Record<string, string | Uint8Array>): FileService {
  const service = new FileService();
  for (const [path, content] of Object.entries(files)) {
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    service.files.set(path, bytes);
  }
  return service;
}

function textIn(service: FileService, path: string): string {
  return new TextDecoder().decode(service.files.get(path));
}

Deno.test("a file is read as bytes, as text, into /tmp and as a stream", async () => {
  const service = serviceWith({ "a/b.txt": "content" });
  const { outcome } = await withFiles(
    `
    const file = $.files.open("a/b.txt");
    await file.toFile("/tmp/local");
    const chunks = []; for await (const chunk of await file.createReadStream()) chunks.push(chunk);
    return [file.path, file.name, file.isFile(), file.isDirectory(), (await file.toBuffer()).toString(),
      await file.toEncodedString("base64"), await file.toEncodedString("utf8", 1, 3), fs.readFileSync("/tmp/local", "utf8"), Buffer.concat(chunks).toString(),
      await file.toUrl(), await file.stat(), await $.files.open("none").stat() ?? null];`,
    service,
  );
  assert.deepEqual(outcome.value, [
    "a/b.txt",
    "b.txt",
    true,
    false,
    "content",
    "Y29udGVudA==",
    "on",
    "content",
    "content",
    "https://node.example/files/a/b.txt",
    { size: 7, modifiedAt: "2023-11-14T22:13:20.000Z" },
    null,
  ]);
});

Deno.test("a file is written from a URL, a local file and streams, and is whole or not there", async () => {
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) =>
      request.url.endsWith("/gone")
        ? new Response("no", { status: 404 })
        : new Response(`fetched by ${request.headers.get("x-key")}`),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const service = serviceWith({});
  const { outcome } = await withFiles(
    `
    fs.writeFileSync("/tmp/local", "local");
    const fromUrl = await $.files.open("url").fromUrl("${url}/", { headers: { "x-key": "me" } });
    const gone = await $.files.open("gone").fromUrl("${url}/gone").catch((error) => error.message);
    await $.files.open("local").fromFile("/tmp/local");
    await $.files.open("stream").fromReadableStream(Readable.from(["a", "b"]));
    const writing = await $.files.open("written").createWriteStream("text/plain", 5);
    writing.write("12"); writing.write("34"); writing.end("5");
    await new Promise((resolve) => writing.on("finish", resolve));
    await pipeline(Readable.from([]), $.files.open("empty").createWriteStream());
    const failing = async function* () { yield "begun"; throw new Error("broken off"); };
    const failed = await $.files.open("failed").fromReadableStream(Readable.from(failing())).catch((error) => error.message);
    return [fromUrl, gone, failed];`,
    service,
  );
  assert.deepEqual(outcome.value, [
    { path: "url" },
    "$.files: the URL answered with status 404",
    "broken off",
  ]);
  const contents = Object.fromEntries(
    [...service.files.keys()].map((path) => [path, textIn(service, path)]),
  );
  assert.deepEqual(contents, {
    url: "fetched by me",
    local: "local",
    stream: "ab",
    written: "12345",
    empty: "",
  });
});

Deno.test("an upload that fails is given up", async () => {
  const service = serviceWith({});
  const write = service.answer.bind(service);
  service.answer = (request) =>
    request.operation === "write" ? { error: "the disk is full" } : write(request);
  const operations = service.operations;
  const { outcome } = await withFiles(
    `const error = await $.files.open("a").fromReadableStream(Readable.from(["x"])).catch((error) => error);
    await $.files.open("a").stat();
    return [error.message, error.stack.includes("component.mjs")];`,
    service,
  );
  assert.equal(outcome.value[0], "$.files: the disk is full");
  assert.deepEqual(operations, ["begin", "abort", "stat"]);
});

Deno.test("large files go in pieces, each asked for when it is wanted", async () => {
  const large = new Uint8Array(3 * MIB).map((_, at) => at % 251);
  const service = serviceWith({ large });
  const { outcome, of } = await withFiles(
    `
    const reading = $.files.open("large").createReadStream();
    await new Promise((resolve) => reading.once("readable", resolve));
    await $.files.open("large").stat();
    reading.destroy();
    await pipeline($.files.open("large").createReadStream(), $.files.open("copy").createWriteStream());
    return (await $.files.open("copy").toBuffer()).length;`,
    service,
  ).then((run) => ({ outcome: run.outcome, of: run.of.bind(run) }));
  assert.equal(outcome.value, large.length);
  assert.deepEqual(service.files.get("copy"), large);
  const asks = of("ask").map((frame) => frame.arguments);
  assert.ok(asks.every(({ length }) => length === undefined || length <= MIB));
  assert.ok(asks.every(({ data }) => data === undefined || data.length <= MIB));
  const before = service.operations.slice(0, service.operations.indexOf("stat"));
  assert.ok(before.length <= 2, `nobody read, but there were ${before}`);
});

Deno.test("a folder is listed page by page, its entries are files", async () => {
  const service = serviceWith({ a: "1", b: "22", c: "333" });
  const { outcome, frames } = await withFiles(
    `
    const seen = [];
    for await (const item of $.files.dir("")) {
      const content = item.isFile() ? (await item.file.toBuffer()).toString() : null;
      seen.push([item.path, item.name, item.size ?? null, item.modifiedAt?.getTime() ?? null, item.isDirectory(), content]);
    }
    for await (const item of $.files.dir()) { seen.push(item.path); break; }
    return seen;`,
    service,
  );
  const date = 1_700_000_000_000;
  assert.deepEqual(outcome.value, [
    ["a", "a", 1, date, false, "1"],
    ["b", "b", 2, date, false, "22"],
    ["c", "c", 3, date, false, "333"],
    ["sub/", "sub", null, null, true, null],
    "a",
  ]);
  const listings = frames.filter(({ operation }) => operation === "list");
  assert.deepEqual(listings.map((frame) => frame.arguments), [
    { path: "" },
    { path: "", after: "b" },
    { path: "" },
  ]);
});

Deno.test("a file that a step returns is opened by a later one", async () => {
  const service = serviceWith({ "a/b.txt": "content" });
  const { outcome } = await withFiles("return $.files.open('a/b.txt');", service);
  assert.deepEqual(outcome.value, { path: "a/b.txt" });
  const descriptor = { path: "a/b.txt", size: 7, modified_at_ms: 1_700_000_000_000 };
  for (const $return_value of [outcome.value, descriptor]) {
    const later = await withFiles(
      `const file = $.files.openDescriptor(steps.before.$return_value);
      return [(await file.toBuffer()).toString(), file];`,
      service,
      { before: { $return_value } },
    );
    assert.deepEqual(later.outcome.value, ["content", $return_value]);
  }
});

Deno.test("a file is deleted, and a missing one is an error that names the call", async () => {
  const service = serviceWith({ a: "1" });
  const { outcome } = await withFiles(
    `
    await $.files.open("a").delete();
    return await $.files.open("a").toBuffer().catch((error) => [error.message, /component\\.mjs/.test(error.stack)]);`,
    service,
  );
  assert.equal(outcome.value[0], `$.files: there is no file "a"`);
  assert.deepEqual([...service.files], []);
});

Deno.test("paths that are none are refused at once", async () => {
  const calls = ["open()", "open('')", "open(5)", "open('a\\0b')", "dir(5)"]
    .concat(["openDescriptor()", "openDescriptor({})", "openDescriptor({ path: 1 })"]);
  const { outcome } = await withFiles(
    `return [${calls.map((call) => `() => $.files.${call}`)}].map((call) => {
      try { call(); } catch (error) { return error.message; } });`,
    serviceWith({}),
  );
  for (const [at, call] of calls.entries()) {
    const name = call.slice(0, call.indexOf("("));
    const expected = `$.files.${name}: the path must be a text, not `;
    assert.ok(outcome.value[at]?.startsWith(expected), `${call}: ${outcome.value[at]}`);
  }
});
