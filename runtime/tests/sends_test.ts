/** `$.send` of a step, and its `this.$emit`. */

import assert from "node:assert/strict";
import { startComponent } from "./spawned_worker.ts";
import { codeStep, runStep } from "./workflow_host.ts";

/** The frames and the errors of these calls. */
async function sent(calls: string[]) {
  const functions = calls.map((text) => `() => ${text}`).join();
  await using worker = await startComponent(codeStep(`const results = [];
    for (const call of [${functions}]) { try { results.push(call() === undefined ? null : "a value"); } catch (error) { results.push(error.message); } }
    return results;`));
  const run = await runStep(worker);
  assert.equal(run.outcome.error, undefined, run.outcome.error?.stack);
  return {
    results: run.outcome.value as unknown[],
    frames: run.of("send").map(({ kind, value }) => [kind, value]),
  };
}

const SENT: [call: string, kind: string, value: unknown][] = [
  ["$.send.http({ url: 'https://a.example' })", "http", {
    method: "GET",
    url: "https://a.example",
  }],
  [
    "$.send.http({ method: 'post', url: new URL('https://a.example/x'), headers: new Headers({ A: 'b' }), params: { n: 1, list: ['x', 2], none: null }, data: { a: [1] }, auth: { username: 'u', password: 'p' }, timeout: 5 })",
    "http",
    {
      method: "POST",
      url: "https://a.example/x",
      headers: { a: "b" },
      params: { n: "1", list: ["x", "2"] },
      data: { a: [1] },
      auth: { username: "u", password: "p" },
    },
  ],
  [
    "$.send.http({ url: 'HTTP://a.example', data: '', auth: { username: 'u' }, headers: { empty: '' } })",
    "http",
    {
      method: "GET",
      url: "HTTP://a.example",
      data: "",
      auth: { username: "u", password: "" },
      headers: { empty: "" },
    },
  ],
  ["$.send.email({ subject: 's', text: 1, html: '<b>' })", "email", {
    subject: "s",
    text: "1",
    html: "<b>",
  }],
  ["$.send.email({ subject: '' })", "email", { subject: "" }],
  ["$.send.s3({ bucket: 'b', prefix: 'p', payload: [1] })", "s3", {
    bucket: "b",
    prefix: "p",
    payload: [1],
  }],
  ["$.send.s3({ bucket: 'b', payload: null })", "s3", {
    bucket: "b",
    prefix: "",
    payload: null,
  }],
  ["$.send.emit({ a: 1 })", "emit", { event: { a: 1 } }],
  ["$.send.emit('text', 'channel')", "emit", { event: "text", channel: "channel" }],
  ["$.send.emit({ raw_event: { a: 1 } })", "emit", { event: { a: 1 } }],
  ["$.send.emit({ raw_event: 1, a: 2 })", "emit", { event: { raw_event: 1, a: 2 } }],
  ["$.send.emit()", "emit", { event: null }],
  ["$.send.sse({ channel: 'c', payload: { a: 1 } })", "sse", {
    channel: "c",
    payload: { a: 1 },
  }],
  ["$.send.sse({ channel: 'c' })", "sse", { channel: "c", payload: null }],
  ["this.$emit({ a: 1 })", "emit", { event: { a: 1 } }],
  ["this.$emit({ a: 1 }, { name: 'c', id: 1, summary: 's' })", "emit", {
    event: { a: 1 },
    channel: "c",
  }],
  ["this.$emit(1, 'c')", "emit", { event: 1, channel: "c" }],
];

Deno.test("sends leave in the order of the calls, which return nothing", async () => {
  const { results, frames } = await sent(SENT.map(([call]) => call));
  assert.deepEqual(frames, SENT.map(([, kind, value]) => [kind, value]));
  assert.deepEqual(results, SENT.map(() => null));
});

const REFUSED: [call: string, message: RegExp][] = [
  ["$.send.http()", /^\$\.send\.http: expected an object, not undefined$/],
  ["$.send.http('https://a.example')", /expected an object, not the string/],
  [
    "$.send.http({})",
    /^\$\.send\.http: url must be an http or https URL, not undefined$/,
  ],
  ["$.send.http({ url: 'a.example' })", /url must be an http or https URL/],
  ["$.send.http({ url: 'file:///etc/passwd' })", /url must be/],
  ["$.send.http({ url: 'https://' })", /url must be/],
  ["$.send.http({ url: 'https://a.example', method: 'GET /' })", /method must be/],
  [
    "$.send.http({ url: 'https://a.example', method: {} })",
    /method must be a text, not an object/,
  ],
  [
    "$.send.http({ url: 'https://a.example', headers: 'a: b' })",
    /headers must be an object/,
  ],
  [
    "$.send.http({ url: 'https://a.example', headers: { a: {} } })",
    /headers\.a must be a text, not an object/,
  ],
  [
    "$.send.http({ url: 'https://a.example', params: { a: [{}] } })",
    /params\.a must be a text/,
  ],
  [
    "$.send.http({ url: 'https://a.example', auth: 'u:p' })",
    /auth must be \{username, password\}/,
  ],
  [
    "$.send.http({ url: 'https://a.example', auth: {} })",
    /auth\.username must be a text/,
  ],
  [
    "$.send.http({ url: 'https://a.example', data: 1n })",
    /\$\.send\.http is not JSON-serializable/,
  ],
  [
    "$.send.email({ text: 't' })",
    /^\$\.send\.email: subject must be a text, not undefined$/,
  ],
  ["$.send.email({ subject: 's', html: {} })", /html must be a text, not an object/],
  ["$.send.s3({ prefix: 'p', payload: 1 })", /^\$\.send\.s3: bucket must be a text/],
  ["$.send.s3({ bucket: '', payload: 1 })", /bucket must be a text that is not empty/],
  ["$.send.s3({ bucket: 'b', prefix: 'p' })", /payload must be given/],
  ["$.send.emit(1, {})", /^\$\.send\.emit: channel must be a text, not an object$/],
  ["$.send.emit(1, '$errors')", /`\$errors` is the platform's own channel/],
  ["this.$emit(1, { name: '$logs' })", /`\$logs` is the platform's own channel/],
  ["$.send.sse({ payload: 1 })", /^\$\.send\.sse: channel must be a text/],
  [
    "$.send.sse({ channel: '', payload: 1 })",
    /channel must be a text that is not empty/,
  ],
];

Deno.test("arguments that cannot be sent are refused, and the field is named", async () => {
  const { results, frames } = await sent(REFUSED.map(([call]) => call));
  for (const [at, [call, message]] of REFUSED.entries()) {
    assert.match(String(results[at]), message, call);
  }
  assert.deepEqual(frames, []);
});
