/**
 * A real worker process for tests, spoken to over the framed protocol.
 *
 * Responsible for starting `worker/main.ts` under the sandbox flags of the platform
 * and for splitting its output into frames and noise. Not responsible for assertions.
 */

const MAIN = new URL("../worker/main.ts", import.meta.url).href;
const IMPORT_MAP = new URL("../import_map.json", import.meta.url).pathname;
export const TOKEN = "00112233445566778899aabbccddeeff";
const TOKEN_BYTES = Uint8Array.from(
  TOKEN.match(/../g)!,
  (hex) => Number.parseInt(hex, 16),
);
const DENIED = "--deny-net=127.0.0.0/8,10.0.0.0/8,169.254.0.0/16,[::1]";

export interface Frame {
  type: string;
  // deno-lint-ignore no-explicit-any
  [field: string]: any;
}

export interface WorkerSetup {
  /** Files of the component's folder by name; the entry is `component.mjs`. */
  files: Record<string, string>;
  entry?: string;
  load?: Record<string, unknown>;
  routes?: Record<string, unknown>[];
  /** A path the worker may also read and write, such as a socket. */
  sharedPath?: string;
  /** Whether it may connect to this machine. */
  mayReachMachine?: boolean;
}

export class SpawnedWorker {
  readonly frames: Frame[] = [];
  noise = "";
  #child: Deno.ChildProcess;
  #writer: WritableStreamDefaultWriter<Uint8Array>;
  #pending = new Uint8Array(0);
  #changed = Promise.withResolvers<void>();
  #reading: Promise<void>;
  #nextId = 1;
  #isClosed = false;

  constructor(readonly folder: string, setup: WorkerSetup) {
    const shared = setup.sharedPath ? `,${setup.sharedPath}` : "";
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net"],
        ...(setup.mayReachMachine ? [] : [DENIED]),
        `--allow-read=${folder}/code,${folder}/beside,${folder}/tmp${shared}`,
        `--allow-write=${folder}/tmp${shared}`,
        ...["--node-modules-dir=manual", "--cached-only", "--no-config"],
        ...[`--import-map=${IMPORT_MAP}`, MAIN],
      ],
      cwd: `${folder}/code`,
      clearEnv: true,
      env: { TMPDIR: `${folder}/tmp`, DENO_DIR: Deno.env.get("DENO_DIR") ?? folder },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  static async start(setup: WorkerSetup): Promise<SpawnedWorker> {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "worker-" }));
    await Deno.mkdir(`${folder}/tmp`);
    await writeFiles(`${folder}/code`, setup.files);
    await Deno.mkdir(`${folder}/beside`);
    const worker = new SpawnedWorker(folder, setup);
    const routes = setup.routes ?? [];
    worker.send({ type: "hello", version: 5, token: TOKEN, routes });
    const entry = `file://${folder}/code/${setup.entry ?? "component.mjs"}`;
    worker.send({ type: "load", component: 1, entry, env: {}, kv: {}, ...setup.load });
    return worker;
  }

  /** Has the worker load one more component, and waits until it has tried. */
  async load(component: number, setup: WorkerSetup): Promise<Frame> {
    this.startLoading(component, await this.place(component, setup.files), setup.load);
    return await this.frame((frame) =>
      frame.type.startsWith("load") && frame.component === component
    );
  }

  /** Writes a component's files where the host would; its entry. */
  async place(component: number, files: WorkerSetup["files"]): Promise<string> {
    await writeFiles(`${this.folder}/beside/${component}`, files);
    return `file://${this.folder}/beside/${component}/component.mjs`;
  }

  startLoading(
    component: number,
    entry: string,
    load: Record<string, unknown> = {},
  ): void {
    this.send({ type: "load", component, entry, env: {}, kv: {}, ...load });
  }

  send(frame: Frame): void {
    const json = new TextEncoder().encode(JSON.stringify(frame));
    const bytes = new Uint8Array(4 + json.length);
    new DataView(bytes.buffer).setUint32(0, json.length);
    bytes.set(json, 4);
    this.#writer.write(bytes).catch(() => {});
  }

  /** Starts an invocation without waiting; its id. */
  invoke(fields: Record<string, unknown> = {}): number {
    const id = this.#nextId++;
    const defaults = { entry: { kind: "run" }, props: {}, log_limit_bytes: 100_000 };
    this.send({ type: "invoke", id, component: 1, ...defaults, ...fields });
    return id;
  }

  /** Runs one invocation to its end; the frames that carry its id. */
  async run(fields: Record<string, unknown> = {}): Promise<Run> {
    const id = this.invoke(fields);
    await this.outcome(id);
    return new Run(this.frames.filter((frame) => frame.id === id));
  }

  outcome(id: number): Promise<Frame> {
    return this.frame((frame) => frame.type === "outcome" && frame.id === id);
  }

  async describe(): Promise<Frame> {
    this.send({ type: "describe", component: 1 });
    return await this.frame((frame) => frame.type.startsWith("describe"));
  }

  async frame(matches: (frame: Frame) => boolean): Promise<Frame> {
    while (true) {
      const found = this.frames.find(matches);
      if (found !== undefined) return found;
      if (this.#isClosed) {
        throw new Error(`the worker ended; frames: ${Deno.inspect(this.frames)}`);
      }
      await this.#changed.promise;
    }
  }

  logs(): Frame[] {
    return this.frames.filter((frame) => frame.type === "log");
  }

  async stop(): Promise<Deno.CommandStatus> {
    await this.#writer.close().catch(() => {});
    const status = await this.#child.status;
    await this.#reading;
    await Deno.remove(this.folder, { recursive: true });
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #read(): Promise<void> {
    for await (const chunk of this.#child.stdout) {
      const joined = new Uint8Array(this.#pending.length + chunk.length);
      joined.set(this.#pending);
      joined.set(chunk, this.#pending.length);
      this.#pending = joined;
      while (this.#takeFrame());
      this.#wake();
    }
    this.#isClosed = true;
    this.#wake();
  }

  #wake(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }

  #takeFrame(): boolean {
    const at = indexOfToken(this.#pending);
    if (at === undefined || this.#pending.length < at + 20) return false;
    const length = new DataView(this.#pending.buffer).getUint32(at + 16);
    if (this.#pending.length < at + 20 + length) return false;
    const text = new TextDecoder();
    this.noise += text.decode(this.#pending.slice(0, at));
    const json = text.decode(this.#pending.slice(at + 20, at + 20 + length));
    this.frames.push(JSON.parse(json));
    this.#pending = this.#pending.slice(at + 20 + length);
    return true;
  }
}

async function writeFiles(
  folder: string,
  files: WorkerSetup["files"],
): Promise<void> {
  await Deno.mkdir(folder);
  for (const [name, text] of Object.entries(files)) {
    const path = `${folder}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
}

export class Run {
  constructor(readonly frames: Frame[]) {}

  of(type: string): Frame[] {
    return this.frames.filter((frame) => frame.type === type);
  }

  get outcome(): Frame {
    return this.frames.at(-1)!;
  }
}

function indexOfToken(bytes: Uint8Array): number | undefined {
  for (let at = 0; at + TOKEN_BYTES.length <= bytes.length; at++) {
    if (TOKEN_BYTES.every((byte, i) => bytes[at + i] === byte)) return at;
  }
  return undefined;
}

/** A worker with a component for each source text, numbered from 1. */
export async function startComponents(
  sources: string[],
  loads: Record<string, unknown>[] = [],
): Promise<SpawnedWorker> {
  const worker = await startComponent(sources[0]!, loads[0]);
  await worker.frame((frame) => frame.type === "loaded");
  for (let at = 1; at < sources.length; at++) {
    const files = { "component.mjs": sources[at]! };
    await worker.load(at + 1, { files, load: loads[at] ?? {} });
  }
  return worker;
}

/** A worker whose component is this source text. */
export function startComponent(
  source: string,
  load?: Record<string, unknown>,
): Promise<SpawnedWorker> {
  return SpawnedWorker.start({ files: { "component.mjs": source }, load: load ?? {} });
}
