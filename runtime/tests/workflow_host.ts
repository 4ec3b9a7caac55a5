/**
 * The platform's side of a workflow's step, as far as the worker sees it.
 *
 * Responsible for inputs of steps and for answering their requests. Not responsible for
 * assertions.
 */

import type { Frame, Run, SpawnedWorker } from "./spawned_worker.ts";

export const URLS = {
  resume: "https://node.example/w/t/resume",
  cancel: "https://node.example/w/t/cancel",
  rerun: "https://node.example/w/t/rerun",
};

/** The deadline of a step with a limit of a second, and the latest one. */
export const DEADLINE = { first: 1_800_000_001_000, last: 1_800_003_600_000 };

/** The source text of a code step. */
export function codeStep(body: string, props = "{}"): string {
  return `export default defineComponent({ props: ${props}, async run({ steps, $ }) { ${body} } });`;
}

export function stepInput(fields: Record<string, unknown> = {}) {
  return {
    steps: { trigger: { event: {}, context: {} } },
    context: { id: "exe_1", trace_id: "trace_1", run: { runs: 1, context: null } },
    props: {},
    urls: URLS,
    deadline: DEADLINE,
    tmp: "inv_1",
    ...fields,
  };
}

/** Runs a step to its end. */
export function runStep(
  worker: SpawnedWorker,
  fields: Record<string, unknown> = {},
  frame: Record<string, unknown> = {},
): Promise<Run> {
  return worker.run({ entry: { kind: "step" }, event: stepInput(fields), ...frame });
}

/** A compiled text that is one expression. */
export function expression(text: string) {
  return { $template: [{ expression: text }] };
}

/** The answers to the questions; an error is thrown. */
export async function answersOf(
  worker: SpawnedWorker,
  ask: unknown[],
  fields: Record<string, unknown> = {},
): Promise<unknown[]> {
  const event = { ...stepInput(fields), ask };
  const { outcome } = await worker.run({ entry: { kind: "evaluate" }, event });
  if (outcome.error !== undefined) throw new Error(outcome.error.message);
  return outcome.value;
}

/** A worker's load frame for expressions alone. */
export const WITHOUT_CODE = { entry: "", is_factory: false };

type Answer = { value?: unknown } | { error: string };

/** Answers the requests of a worker until that has ended. */
export async function answerRequests(
  worker: SpawnedWorker,
  answerTo: (request: Frame) => Answer,
): Promise<void> {
  let answered = 0;
  try {
    while (true) {
      await worker.frame((frame) => frame.type === "ask" && frame === next());
      const request = next()!;
      answered++;
      worker.send({
        type: "reply",
        id: request.id,
        request: request.request,
        ...answerTo(request),
      });
    }
  } catch {
    // The worker has ended.
  }

  function next(): Frame | undefined {
    return worker.frames.filter(({ type }) => type === "ask")[answered];
  }
}

/** Files in memory, with the operations of the host's service. */
export class FileService {
  readonly files = new Map<string, Uint8Array>();
  readonly operations: string[] = [];
  #uploads = new Map<string, { path: string; pieces: Uint8Array[] }>();

  answer({ operation, arguments: given }: Frame): Answer {
    this.operations.push(operation);
    switch (operation) {
      case "stat":
        return { value: this.#stat(given.path) };
      case "read":
        return this.#read(given.path, given.offset, given.length);
      case "begin": {
        const upload = `up_${this.operations.length}`;
        this.#uploads.set(upload, { path: given.path, pieces: [] });
        return { value: { upload } };
      }
      case "write": {
        const bytes = Uint8Array.fromBase64(given.data);
        if (given.data.length > 1024 * 1024) return { error: "the piece is too large" };
        this.#uploads.get(given.upload)!.pieces.push(bytes);
        return { value: null };
      }
      case "commit":
        return this.#commit(given.upload);
      case "abort":
        this.#uploads.delete(given.upload);
        return { value: null };
      case "delete":
        this.files.delete(given.path);
        return { value: null };
      case "list":
        return this.#list(given.after);
      case "url":
        return { value: { url: `https://node.example/files/${given.path}` } };
    }
    return { error: `unknown operation ${operation}` };
  }

  #stat(path: string): unknown {
    const bytes = this.files.get(path);
    return bytes === undefined
      ? null
      : { size: bytes.length, modified_at_ms: 1_700_000_000_000 };
  }

  #read(path: string, offset: number, length: number): Answer {
    const bytes = this.files.get(path);
    if (bytes === undefined) return { error: `there is no file "${path}"` };
    const piece = bytes.subarray(offset, offset + length);
    const is_end = offset + length >= bytes.length;
    return { value: { data: piece.toBase64(), is_end } };
  }

  #commit(upload: string): Answer {
    const { path, pieces } = this.#uploads.get(upload)!;
    const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.files.set(path, bytes);
    return { value: { size: bytes.length } };
  }

  /** Two to a page, and a folder at the end. */
  #list(after: string | undefined): Answer {
    const paths = [...this.files.keys()].sort();
    const from = after === undefined ? 0 : paths.indexOf(after) + 1;
    const page = paths.slice(from, from + 2);
    const entries = page.map((path) => ({
      path,
      is_directory: false,
      size: this.files.get(path)!.length,
      modified_at_ms: 1_700_000_000_000,
    }));
    if (from + 2 < paths.length) return { value: { entries, next: page.at(-1) } };
    return { value: { entries: [...entries, { path: "sub/", is_directory: true }] } };
  }
}
