/** Actions that send requests, answer them and check their credentials. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createHttpRequest } from "../worker/http_request.ts";
import { failureOf, loadAction, runAction, startServer } from "./builtin_steps.ts";

const RESPOND = "http-return-http-response";
const AUTH = "http-validate-webhook-auth";
const HMAC = "http-verify-hmac-signature";

Deno.test("each request is sent as it is configured, and its data returned", async () => {
  await using server = startServer(({ method }) =>
    Response.json({ method }, { headers: { "x-answer": "yes" } })
  );
  for (
    const [key, method] of [
      ["http-custom-request", "DELETE"],
      ["http-get-request", "GET"],
      ["http-post-request", "POST"],
      ["http-put-request", "PUT"],
    ] as const
  ) {
    const request = { url: `${server.url}/a`, method };
    const httpRequest = createHttpRequest(request);
    const ran = await runAction(key, { httpRequest, includeHeaders: true });
    assert.deepEqual(ran.returned, { method });
    assert.equal(ran.exports.headers["x-answer"], "yes");
    const plain = await runAction(key, { httpRequest });
    assert.deepEqual(plain.exports, {});
  }
});

Deno.test("the methods of requests are their actions' defaults", async () => {
  for (
    const [key, expected] of [
      ["http-custom-request", undefined],
      ["http-get-request", { method: "GET" }],
      ["http-post-request", { method: "POST" }],
      ["http-put-request", { method: "PUT" }],
    ] as const
  ) {
    const { props } = await loadAction(key);
    const { httpRequest } = props as Record<string, { default?: unknown }>;
    assert.deepEqual(httpRequest!.default, expected);
  }
});

Deno.test("steps of former releases have the request in props of their own", async () => {
  await using server = startServer(() => Response.json([1]));
  const ran = await runAction("http-post-request", {
    url: `${server.url}/b?x=1`,
    params: { y: "2 3" },
    headers: { "x-key": "k" },
    data: { a: 1 },
    basicAuthUsername: "me",
    basicAuthPassword: "pä",
  });
  assert.deepEqual(ran.returned, [1]);
  const [{ method, path, headers, body }] = server.seen as [typeof server.seen[0]];
  assert.deepEqual([method, path, body], ["POST", "/b?x=1&y=2+3", '{"a":1}']);
  assert.equal(headers.authorization, "Basic bWU6cMOk");
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["x-key"], "k");
});

Deno.test("a request that is refused or missing is an error", async () => {
  await using server = startServer(() =>
    Response.json({ why: "gone" }, { status: 410 })
  );
  const refused: any = await failureOf("http-get-request", { url: server.url });
  assert.equal(refused.message, "Request failed with status code 410");
  assert.deepEqual(refused.response.data, { why: "gone" });
  const missing = await failureOf("http-get-request", {
    httpRequest: createHttpRequest({ method: "GET" }),
  });
  assert.equal(missing.name, "ConfigurationError");
  assert.match(missing.message, /`httpRequest` has no URL/);
});

Deno.test("a response has the status, headers and body that are configured", async () => {
  const ran = await runAction(RESPOND, {
    resStatusCode: "201",
    resHeaders: { "x-a": "1" },
    resBody: { ok: true },
  });
  assert.deepEqual(ran.responses, [
    { status: 201, headers: { "x-a": "1" }, body: { ok: true } },
  ]);
  assert.match(ran.exports.$summary, /201/);
  assert.deepEqual((await runAction(RESPOND)).responses, [
    { status: 200, body: '{ "success": true }' },
  ]);
});

Deno.test("only the right credentials let a run go on", async () => {
  const basic = `Basic ${btoa("me:secret")}`;
  const known = { basicAuthUsername: "me", basicAuthPassword: "secret" };
  for (
    const [props, authInput, isRight] of [
      [{ authType: "basic", ...known }, basic, true],
      [{ authType: "basic", ...known }, `Basic ${btoa("me:other")}`, false],
      [{ authType: "bearer", bearer: "Bearer t" }, "Bearer t", true],
      [{ authType: "bearer", bearer: "Bearer t" }, "t", false],
      [{ authType: "key", key: "k" }, "k", true],
      [{ authType: "key", key: "k" }, undefined, false],
      [{ key: "k" }, "k", true],
    ] as const
  ) {
    const ran = await runAction(AUTH, { ...props, authInput });
    const refusal = [{ status: 401, headers: {}, body: "Invalid credentials" }];
    assert.deepEqual(ran.responses, isRight ? [] : refusal);
    assert.deepEqual(ran.exits, isRight ? [] : ["Invalid credentials"]);
    assert.equal(ran.exports.$summary !== undefined, isRight);
  }
});

Deno.test("the default credentials are those of the request's header", async () => {
  const steps = { trigger: { event: { headers: { authorization: "k" } } } };
  const right = await runAction(AUTH, { authType: "key", key: "k" }, steps);
  assert.deepEqual(right.exits, []);
  const wrong = await runAction(AUTH, { authType: "key", key: "other" }, steps);
  assert.deepEqual(wrong.exits, ["Invalid credentials"]);
});

Deno.test("a run ends without a response if none is wanted", async () => {
  const props = { authType: "key", key: "k", authInput: "x", customResponse: false };
  const ran = await runAction(AUTH, props);
  assert.deepEqual([ran.responses, ran.exits], [[], ["Invalid credentials"]]);
});

Deno.test("a secret that is missing lets nobody in", async () => {
  for (
    const [key, props, name] of [
      [AUTH, { authType: "bearer", authInput: "" }, "bearer"],
      [AUTH, { authType: "key", key: "", authInput: "" }, "key"],
      [AUTH, { authType: "basic", basicAuthUsername: "me" }, "basicAuthPassword"],
      [AUTH, { authType: "basic", basicAuthPassword: "" }, "basicAuthPassword"],
      [AUTH, { authInput: "" }, "authType"],
      [HMAC, { secret: "", signature: "", bodyRaw: "" }, "secret"],
    ] as const
  ) {
    const error = await failureOf(key, props);
    assert.equal(error.name, "ConfigurationError");
    assert.ok(error.message.includes(`\`${name}\``), error.message);
  }
  const username = {
    authType: "basic",
    basicAuthUsername: "token",
    basicAuthPassword: "",
    authInput: `Basic ${btoa("token:")}`,
  };
  assert.deepEqual((await runAction(AUTH, username)).exits, []);
});

Deno.test("the props of credentials follow their type", async () => {
  const { additionalProps } = await loadAction(AUTH);
  const names = (authType?: string) =>
    Object.keys((additionalProps as () => object).call({ authType }));
  assert.deepEqual(names(), []);
  assert.deepEqual(names("basic"), ["basicAuthUsername", "basicAuthPassword"]);
  assert.deepEqual(names("bearer"), ["bearer"]);
  assert.deepEqual(names("key"), ["key"]);
});

Deno.test("only a body that is signed with the secret lets a run go on", async () => {
  const bodyRaw = '{"a":"ä"}';
  const signature = createHmac("sha256", "s").update(bodyRaw).digest("hex");
  const props = { secret: "s", bodyRaw };
  for (const right of [signature, signature.toUpperCase()]) {
    const ran = await runAction(HMAC, { ...props, signature: right });
    assert.deepEqual([ran.responses, ran.exits], [[], []]);
  }
  for (const wrong of [signature.slice(1), "", undefined, "z".repeat(64)]) {
    const ran = await runAction(HMAC, { ...props, signature: wrong });
    assert.equal(ran.responses[0]!.status, 401);
    assert.deepEqual(ran.exits, ["Invalid credentials"]);
  }
});
