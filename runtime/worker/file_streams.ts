/**
 * Streams from and to files of the host, in pieces that the host takes at once.
 *
 * A piece is asked for when it is wanted, and the next one sent when the last has been
 * taken. A file that is written appears when it is whole, or not at all. Not responsible
 * for the files.
 */

import { Buffer } from "node:buffer";
import { Readable, Writable } from "node:stream";

/** The base64 text of such a piece has no more than 1 MiB. */
const PIECE_BYTES = 768 * 1024;

/** Has the host carry out an operation; its result. */
export type AskFiles = (
  operation: string,
  fields: Record<string, unknown>,
) => Promise<any>;

type Done = (error?: Error | null) => void;

export function readStream(ask: AskFiles, path: string): Readable {
  const options = { objectMode: false, highWaterMark: PIECE_BYTES };
  return Readable.from(pieces(ask, path), options);
}

/** The pieces of a file, one after the other. */
export async function* pieces(ask: AskFiles, path: string): AsyncGenerator<Buffer> {
  let offset = 0;
  let isEnd = false;
  while (!isEnd) {
    const { data, is_end } = await ask("read", { path, offset, length: PIECE_BYTES });
    const bytes = Buffer.from(data, "base64");
    isEnd = is_end || bytes.length === 0;
    offset += bytes.length;
    if (bytes.length > 0) yield bytes;
  }
}

export function writeStream(ask: AskFiles, path: string): Writable {
  const upload = new Upload(ask, path);
  return new Writable({
    highWaterMark: PIECE_BYTES,
    write: (chunk, _encoding, done) => follow(upload.write(chunk), done),
    writev: (chunks, done) => {
      const bytes = Buffer.concat(chunks.map(({ chunk }) => chunk));
      follow(upload.write(bytes), done);
    },
    final: (done) => follow(upload.commit(), done),
    destroy: (error, done) => {
      upload.abort();
      done(error);
    },
  });
}

function follow(work: Promise<void>, done: Done): void {
  work.then(() => done(), done);
}

class Upload {
  #ask: AskFiles;
  #path: string;
  #upload: Promise<string> | undefined;
  #isCommitted = false;

  constructor(ask: AskFiles, path: string) {
    this.#ask = ask;
    this.#path = path;
  }

  async write(bytes: Buffer): Promise<void> {
    const upload = await this.#begun();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const data = bytes.toString("base64", at, at + PIECE_BYTES);
      await this.#ask("write", { upload, data });
    }
  }

  async commit(): Promise<void> {
    const upload = await this.#begun();
    await this.#ask("commit", { upload });
    this.#isCommitted = true;
  }

  /** Gives up; nobody waits for it. */
  abort(): void {
    if (this.#upload === undefined || this.#isCommitted) return;
    this.#upload.then((upload) => this.#ask("abort", { upload })).catch(() => {});
  }

  #begun(): Promise<string> {
    this.#upload ??= this.#begin();
    return this.#upload;
  }

  async #begin(): Promise<string> {
    const { upload } = await this.#ask("begin", { path: this.#path });
    return upload;
  }
}
