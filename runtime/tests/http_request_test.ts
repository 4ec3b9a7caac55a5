/** `http_request` props: requests and their responses. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";

/** The request goes to a stand-in that records it: workers cannot reach loopback here. */
const COMPONENT = `
  globalThis.fetch = async (url, init) => {
    const request = new Request(url, init);
    const seen = { method: request.method, url: request.url,
      headers: Object.fromEntries(request.headers), body: await request.text() };
    const { status = 200, answer = JSON.stringify(seen) } = globalThis.next;
    return new Response(answer, { status, headers: { "x-answer": "yes" } });
  };
  export default { name: "T", version: "1", props: { req: { type: "http_request" } },
    async run(next) {
      globalThis.next = next;
      try {
        const data = await this.req.execute();
        return { data, status: data.status, answer: data.headers?.["x-answer"],
          url: this.req.url, keys: Object.keys(this.req) };
      } catch ({ message, code, response }) { return { message, code, response }; }
    } };`;

const URL = "https://api.example/v1";

async function send(
  worker: Awaited<ReturnType<typeof startComponent>>,
  request: Record<string, unknown>,
  event: unknown = {},
) {
  const props = { req: { $http_request: { url: URL, ...request } } };
  return (await worker.run({ props, event })).outcome.value;
}

Deno.test("the configured request is made, whichever way its fields are given", async () => {
  await using worker = await startComponent(COMPONENT);
  const listed = await send(worker, {
    method: "post",
    url: `${URL}?a=1`,
    headers: [{ name: "X-Key", value: "k" }, {
      name: "x-off",
      value: "1",
      disabled: true,
    }],
    params: [{ name: "b", value: "2 3" }],
    auth: { type: "basic", username: "me", password: "pä" },
    body: { type: "fields", fields: [{ name: "n", value: "v" }] },
  });
  assert.deepEqual(listed.data, {
    method: "POST",
    url: `${URL}?a=1&b=2+3`,
    headers: {
      authorization: "Basic bWU6cMOk",
      "content-type": "application/json",
      "x-key": "k",
    },
    body: '{"n":"v"}',
  });
  assert.deepEqual([listed.status, listed.url], [200, `${URL}?a=1`]);
  assert.deepEqual(
    listed.keys,
    ["url", "method", "headers", "params", "auth", "body"],
  );
  const short = await send(worker, {
    method: "PUT",
    headers: { "Content-Type": "application/vnd.x+json" },
    params: { page: 2, none: null },
    auth: { token: "t" },
    data: { a: [1] },
  });
  assert.deepEqual(short.data, {
    method: "PUT",
    url: `${URL}?page=2`,
    headers: { authorization: "Bearer t", "content-type": "application/vnd.x+json" },
    body: '{"a":[1]}',
  });
});

Deno.test("bodies are of the type that is asked for", async () => {
  await using worker = await startComponent(COMPONENT);
  const fields = [{ name: "a", value: "1&2" }];
  const form = "application/x-www-form-urlencoded";
  for (
    const [body, type, text] of [
      [
        { type: "fields", contentType: form, fields },
        /^application\/x-www/,
        /^a=1%262$/,
      ],
      [
        { type: "fields", contentType: "multipart/form-data", fields },
        /boundary=/,
        /1&2/,
      ],
      [{ type: "raw", raw: "plain" }, /^text\/plain/, /^plain$/],
      [{ mode: "raw", raw: '{"a":1}' }, /^application\/json$/, /^{"a":1}$/],
      [{ type: "raw", raw: "<a/>", contentType: "text/xml" }, /^text\/xml$/, /^<a\/>$/],
      ['{"a":1}', /^application\/json$/, /^{"a":1}$/],
    ] as const
  ) {
    const { data } = await send(worker, { method: "POST", body });
    assert.match(data.headers["content-type"], type);
    assert.match(data.body, text);
  }
  const { data } = await send(worker, { body: "ignored" });
  assert.equal(data.body, "");
});

Deno.test("what fails says so like an axios error, and text stays text", async () => {
  await using worker = await startComponent(COMPONENT);
  const failed = await send(worker, {}, { status: 404, answer: '{"why":"gone"}' });
  assert.deepEqual(failed, {
    message: "Request failed with status code 404",
    code: "ERR_BAD_REQUEST",
    response: {
      status: 404,
      statusText: "",
      headers: { "content-type": "text/plain;charset=UTF-8", "x-answer": "yes" },
      data: { why: "gone" },
    },
  });
  assert.equal((await send(worker, {}, { answer: "text" })).data, "text");
});

Deno.test("a field of the response keeps its name", async () => {
  await using worker = await startComponent(COMPONENT);
  const sent = await send(worker, {}, { answer: '{"status":"open","headers":[1]}' });
  assert.deepEqual(sent.data, { status: "open", headers: [1] });
  assert.equal(sent.status, "open");
  const plain = await send(worker, {}, { answer: '{"a":1}', status: 201 });
  assert.deepEqual([plain.data, plain.status, plain.answer], [{ a: 1 }, 201, "yes"]);
});
