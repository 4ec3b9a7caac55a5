/**
 * Measures how many invocations of an HTTP component one worker process handles per second.
 *
 * Speaks the framed protocol over real pipes with a fixed number of invocations in
 * flight. The counting side shares the machine, so the figure is a lower bound for
 * the worker; the host's own cost is not in it.
 *
 * Arguments: seconds, invocations in flight, `respond` or `emit`.
 */

const SECONDS = Number(Deno.args[0] ?? 5);
const IN_FLIGHT = Number(Deno.args[1] ?? 32);
const KIND = Deno.args[2] ?? "respond";

const TOKEN = "00112233445566778899aabbccddeeff";
const OUTCOME = new TextEncoder().encode(`{"type":"outcome"`);
const HEADER_BYTES = 20;

const BODIES: Record<string, string> = {
  respond: `this.http.respond({
    status: 200,
    headers: { "content-type": "application/json" },
    body: { hello: event.query.name, path: event.path },
  });`,
  emit: `this.$emit({ body: event.body, n: 1 }, { id: event.path, summary: "event" });`,
};

const COMPONENT = `export default {
  name: "Bench", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
  methods: { handle(event) { ${BODIES[KIND]} } },
  async run(event) { this.handle(event); },
};`;

const EVENT = {
  method: "GET",
  path: "/a/b",
  query: { name: "world" },
  headers: { host: "localhost", "user-agent": "bench", accept: "*/*" },
  bodyRaw: "",
  body: { some: "json" },
  url: "http://localhost/a/b?name=world",
  client_ip: "192.0.2.1",
};

function encode(frame: unknown): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(JSON.stringify(frame));
  const bytes = new Uint8Array(4 + json.length);
  new DataView(bytes.buffer).setUint32(0, json.length);
  bytes.set(json, 4);
  return bytes;
}

/** Many invocations as one block of bytes; the ids may repeat after the block. */
function invocations(count: number): Uint8Array<ArrayBuffer> {
  const frames = Array.from({ length: count }, () =>
    encode({
      type: "invoke",
      component: 1,
      id: 1 + Math.floor(Math.random() * 1e9),
      entry: { kind: "run" },
      event: EVENT,
      props: { http: { endpoint: "http://localhost/e/x" } },
      log_limit_bytes: 262144,
    }));
  const block = new Uint8Array(frames.reduce((sum, frame) => sum + frame.length, 0));
  let at = 0;
  for (const frame of frames) {
    block.set(frame, at);
    at += frame.length;
  }
  return block;
}

class OutcomeCounter {
  #pending = new Uint8Array(0);

  count(chunk: Uint8Array): number {
    const bytes = new Uint8Array(this.#pending.length + chunk.length);
    bytes.set(this.#pending);
    bytes.set(chunk, this.#pending.length);
    const view = new DataView(bytes.buffer);
    let at = 0;
    let outcomes = 0;
    while (at + HEADER_BYTES <= bytes.length) {
      const end = at + HEADER_BYTES + view.getUint32(at + 16);
      if (end > bytes.length) break;
      if (bytes[at + HEADER_BYTES + 9] === OUTCOME[9]) outcomes++;
      at = end;
    }
    this.#pending = bytes.slice(at);
    return outcomes;
  }
}

const folder = await Deno.makeTempDir();
await Deno.writeTextFile(`${folder}/component.mjs`, COMPONENT);
const main = new URL("../worker/main.ts", import.meta.url).href;
const child = new Deno.Command(Deno.execPath(), {
  args: ["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net"]
    .concat([`--allow-read=${folder}`, "--no-config", main]),
  stdin: "piped",
  stdout: "piped",
  stderr: "inherit",
}).spawn();
const input = child.stdin.getWriter();
const blocks = Array.from({ length: IN_FLIGHT + 1 }, (_, count) => invocations(count));

input.write(encode({ type: "hello", version: 5, token: TOKEN, routes: [] }));
const entry = `file://${folder}/component.mjs`;
input.write(encode({ type: "load", component: 1, entry, env: {}, kv: {} }));
input.write(blocks[IN_FLIGHT]!);

const counter = new OutcomeCounter();
let done = 0;
let started = 0;
for await (const chunk of child.stdout) {
  const outcomes = counter.count(chunk);
  if (outcomes === 0) continue;
  // The first second is for the JIT.
  if (started === 0) started = performance.now() + 1000;
  if (performance.now() > started) done += outcomes;
  if (performance.now() > started + SECONDS * 1000) break;
  input.write(blocks[outcomes]!);
}
const seconds = (performance.now() - started) / 1000;
child.kill("SIGKILL");
await child.status;
await Deno.remove(folder, { recursive: true });
console.log(
  `${KIND}: ${Math.round(done / seconds)} invocations/s, ${IN_FLIGHT} in flight`,
);
