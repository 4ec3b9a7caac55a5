/**
 * Standard streams for component code: writes become log lines, input is empty.
 *
 * The real standard output carries frames. Bytes that reach it in another way are
 * harmless, because the host logs them as noise; this attributes them to a run. The
 * real standard input carries the host's frames, and a library that reads from it would
 * swallow them. Not responsible for `console`.
 */

import { Buffer } from "node:buffer";
import { Readable, Writable } from "node:stream";
import type { WriteLog } from "./console.ts";
import type { LogLevel } from "./protocol.ts";
import { perComponent } from "./scope.ts";

type WriteChunk = (chunk: Uint8Array) => number;

export function installStandardStreams(write: WriteLog): void {
  replaceStream("stdout", 1, "info", write);
  replaceStream("stderr", 2, "error", write);
  Object.defineProperty(globalThis.process, "stdin", {
    value: Object.assign(Readable.from([]), { fd: 0, isTTY: false }),
    configurable: true,
    enumerable: true,
    writable: true,
  });
  Object.assign(Deno.stdin, {
    read: () => Promise.resolve(null),
    readSync: () => null,
  });
  Object.defineProperty(Deno.stdin, "readable", {
    value: new ReadableStream({ start: (controller) => controller.close() }),
    configurable: true,
  });
}

function replaceStream(
  name: "stdout" | "stderr",
  fd: number,
  level: LogLevel,
  write: WriteLog,
): void {
  const writeChunk = chunkWriter(level, write);
  Object.defineProperty(globalThis.process, name, {
    value: nodeStream(fd, writeChunk),
    configurable: true,
    enumerable: true,
    writable: true,
  });
  const stream = Deno[name] as unknown as Record<string, unknown>;
  stream.writeSync = writeChunk;
  stream.write = (chunk: Uint8Array) => Promise.resolve(writeChunk(chunk));
  Object.defineProperty(stream, "writable", {
    value: new WritableStream<Uint8Array>({ write: (chunk) => void writeChunk(chunk) }),
    configurable: true,
  });
}

function chunkWriter(level: LogLevel, write: WriteLog): WriteChunk {
  // A character may be split over two chunks.
  const decoder = perComponent(() => new TextDecoder());
  return (chunk) => {
    const text = decoder().decode(chunk, { stream: true }).replace(/\r?\n$/, "");
    if (text !== "") write(level, text);
    return chunk.byteLength;
  };
}

function nodeStream(fd: number, writeChunk: WriteChunk): Writable {
  const stream = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      writeChunk(chunk);
      done();
    },
  });
  return Object.assign(stream, { fd, isTTY: false });
}
