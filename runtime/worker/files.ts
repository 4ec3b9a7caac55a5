/**
 * `$.files` of a workflow's step: the owner's files, which outlive the run.
 *
 * Responsible for the shape of a file and its conversions. Not responsible for reading
 * and writing in pieces (`file_streams.ts`), nor for paths that are not allowed, which
 * the host refuses.
 */

import { Buffer } from "node:buffer";
import fs from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isObject } from "./component.ts";
import { type AskFiles, pieces, readStream, writeStream } from "./file_streams.ts";
import { finalize } from "./intrinsics.ts";
import { kindOf } from "./kinds.ts";
import type { StepEffects } from "./step_effects.ts";

/** A file or folder, as far as it is known. */
interface Entry {
  path: string;
  is_directory?: boolean;
  size?: number;
  modified_at_ms?: number;
}

interface Listing {
  entries: Entry[];
  next?: string;
}

export function createFiles(step: StepEffects): Record<string, unknown> {
  // The error is created here so that its stack leads to the caller.
  const ask: AskFiles = async (operation, fields) => {
    const asked = { __proto__: null, ...fields };
    const answer = await step.ask("files", operation, asked);
    if (answer.error === undefined) return answer.value;
    throw new Error(`$.files: ${answer.error}`);
  };
  return {
    open: (path: unknown) => new StoredFile(ask, { path: pathOf("open", path) }),
    openDescriptor: (descriptor: unknown) => new StoredFile(ask, entryOf(descriptor)),
    dir: (path?: unknown) => list(ask, pathOf("dir", path ?? "")),
  };
}

async function* list(ask: AskFiles, path: string): AsyncGenerator<StoredFile> {
  let after: string | undefined;
  do {
    const { entries, next }: Listing = await ask("list", { path, after });
    for (const entry of entries) yield new StoredFile(ask, entry);
    after = next;
  } while (after !== undefined && after !== null);
}

class StoredFile {
  readonly path: string;
  readonly name: string;
  readonly size: number | undefined;
  readonly modifiedAt: Date | undefined;
  #ask: AskFiles;
  #isDirectory: boolean;

  constructor(ask: AskFiles, entry: Entry) {
    this.path = entry.path;
    this.name = entry.path.replace(/\/+$/, "").replace(/^.*\//, "");
    this.size = entry.size ?? undefined;
    this.modifiedAt = dateOf(entry.modified_at_ms);
    this.#ask = ask;
    this.#isDirectory = entry.is_directory === true;
  }

  isDirectory(): boolean {
    return this.#isDirectory;
  }

  isFile(): boolean {
    return !this.#isDirectory;
  }

  /** The entry of a listing as a file. */
  get file(): this {
    return this;
  }

  /** A URL for reading, valid for a short time. */
  async toUrl(): Promise<string> {
    const { url } = await this.#ask("url", { path: this.path });
    return url;
  }

  /** Size and date as they are now; undefined when there is no such file. */
  async stat(): Promise<{ size: number; modifiedAt: Date } | undefined> {
    const found = await this.#ask("stat", { path: this.path });
    if (found === null || found === undefined) return undefined;
    return { size: found.size, modifiedAt: new Date(found.modified_at_ms) };
  }

  async toBuffer(): Promise<Buffer> {
    const all: Buffer[] = [];
    for await (const piece of pieces(this.#ask, this.path)) all.push(piece);
    return Buffer.concat(all);
  }

  async toEncodedString(
    encoding: BufferEncoding = "utf8",
    start?: number,
    end?: number,
  ): Promise<string> {
    return (await this.toBuffer()).toString(encoding, start, end);
  }

  async toFile(localPath: string): Promise<void> {
    await pipeline(this.createReadStream(), fs.createWriteStream(localPath));
  }

  createReadStream() {
    return readStream(this.#ask, this.path);
  }

  /** The file is there when the stream has finished. Type and length are not needed. */
  createWriteStream(_contentType?: string, _contentLength?: number) {
    return writeStream(this.#ask, this.path);
  }

  async fromReadableStream(stream: NodeJS.ReadableStream): Promise<this> {
    await pipeline(stream, this.createWriteStream());
    return this;
  }

  async fromFile(localPath: string): Promise<this> {
    return await this.fromReadableStream(fs.createReadStream(localPath));
  }

  /** @param options are those of `fetch` */
  async fromUrl(url: string, options?: RequestInit): Promise<this> {
    const response = await fetch(url, options);
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`$.files: the URL answered with status ${response.status}`);
    }
    const body = response.body ?? new Blob([]).stream();
    return await this.fromReadableStream(Readable.fromWeb(body as any));
  }

  async delete(): Promise<void> {
    await this.#ask("delete", { path: this.path });
  }

  /** A description for later steps, which `$.files.openDescriptor` takes. */
  toJSON(): Entry {
    const entry: Entry = { path: this.path };
    if (this.#isDirectory) entry.is_directory = true;
    if (this.size !== undefined) entry.size = this.size;
    if (this.modifiedAt !== undefined) {
      entry.modified_at_ms = this.modifiedAt.getTime();
    }
    return entry;
  }
}

function dateOf(ms: number | null | undefined): Date | undefined {
  return ms === undefined || ms === null ? undefined : new Date(ms);
}

function entryOf(descriptor: unknown): Entry {
  if (!isObject(descriptor)) {
    return { path: pathOf("openDescriptor", descriptor) };
  }
  const { path, is_directory, size, modified_at_ms } = descriptor as Partial<Entry>;
  return {
    path: pathOf("openDescriptor", path),
    ...(is_directory === true ? { is_directory } : {}),
    ...(typeof size === "number" ? { size } : {}),
    ...(typeof modified_at_ms === "number" ? { modified_at_ms } : {}),
  };
}

function pathOf(call: string, path: unknown): string {
  const isPath = typeof path === "string" && (path !== "" || call === "dir");
  if (isPath && !path.includes("\0")) return path;
  throw new TypeError(`$.files.${call}: the path must be a text, not ${kindOf(path)}`);
}

finalize(StoredFile);
