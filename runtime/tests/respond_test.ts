/** The argument of `respond`. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { normalizeResponse } from "../worker/respond.ts";

Deno.test("a status is enough", () => {
  assert.deepEqual(normalizeResponse({ status: 204 }), {
    status: 204,
    headers: {},
    body: "",
    encoding: "utf8",
  });
});

Deno.test("an object body is JSON unless the component says otherwise", () => {
  const plain = normalizeResponse({ status: 200, body: { a: 1 } });
  assert.equal(plain.body, '{"a":1}');
  assert.equal(plain.headers["content-type"], "application/json; charset=utf-8");
  const named = normalizeResponse({
    status: 200,
    headers: {
      "Content-Type": "application/hal+json",
      "X-Number": 5,
      "Set-Cookie": ["a", "b"],
    },
    body: [],
  });
  assert.deepEqual(named.headers, {
    "Content-Type": "application/hal+json",
    "X-Number": "5",
    "Set-Cookie": ["a", "b"],
  });
});

Deno.test("text is plain text unless the component says otherwise", () => {
  const type = (response: object) =>
    normalizeResponse({ status: 200, ...response }).headers["content-type"];
  assert.equal(type({ body: "a" }), "text/plain; charset=utf-8");
  assert.equal(type({ body: "<p>a</p>" }), "text/plain; charset=utf-8");
  assert.equal(
    type({ body: "a", headers: { "content-type": "text/html" } }),
    "text/html",
  );
  assert.equal(type({ body: "" }), undefined);
  assert.equal(type({}), undefined);
});

Deno.test("bytes travel as base64", () => {
  for (const body of [Buffer.from([0, 255]), new Uint8Array([0, 255]).buffer]) {
    const response = normalizeResponse({ status: "200", body });
    assert.deepEqual([response.body, response.encoding], ["AP8=", "base64"]);
  }
});

Deno.test("a view of a larger buffer sends only its part", () => {
  const view = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
  assert.equal(normalizeResponse({ status: 200, body: view }).body, "AgM=");
});

Deno.test("a missing or impossible status is an error", () => {
  for (const status of [undefined, 99, 600, 200.5, "ok"]) {
    assert.throws(() => normalizeResponse({ status }), /status must be an integer/);
  }
  assert.throws(() => normalizeResponse("hello"), /expected an object/);
});
