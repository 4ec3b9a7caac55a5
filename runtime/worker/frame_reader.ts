/**
 * Cuts the host's byte stream into frames: a 4-byte big-endian length, then JSON.
 *
 * Not responsible for reading standard input nor for the frames' contents; the host
 * is trusted, so malformed JSON is a thrown error and ends the worker.
 */

import {
  Bytes,
  copyBytes,
  decodeUtf8,
  fillBytes,
  finalize,
  jsonParse,
  Memory,
} from "./intrinsics.ts";
import type { HostFrame } from "./protocol.ts";

const LENGTH_BYTES = 4;
const INITIAL_CAPACITY_BYTES = 64 * 1024;

/** Where the next read may put its bytes. */
export interface FreeSpace {
  memory: ArrayBuffer;
  start: number;
  length: number;
}

export class FrameReader {
  #capacity = INITIAL_CAPACITY_BYTES;
  #memory = new Memory(INITIAL_CAPACITY_BYTES);
  #buffer = new Bytes(this.#memory);
  #start = 0;
  #end = 0;

  /** Where the next read may put its bytes; say how many came with `filled`. */
  freeSpace(): FreeSpace {
    const needed = this.#missingBytes();
    if (this.#capacity - this.#end < needed) this.#makeRoom(needed);
    return {
      memory: this.#memory,
      start: this.#end,
      length: this.#capacity - this.#end,
    };
  }

  filled(count: number): void {
    this.#end += count;
  }

  /** The next whole frame, or undefined until more bytes have come. */
  next(): HostFrame | undefined {
    const length = this.#frameLength();
    if (length === undefined) return undefined;
    const from = this.#start + LENGTH_BYTES;
    if (this.#end - from < length) return undefined;
    const text = decodeUtf8(new Bytes(this.#memory, from, length));
    this.#start = from + length;
    if (this.#start === this.#end) this.#reset();
    return jsonParse(text) as HostFrame;
  }

  #frameLength(): number | undefined {
    if (this.#end - this.#start < LENGTH_BYTES) return undefined;
    const at = this.#start;
    const buffer = this.#buffer;
    return ((buffer[at]! << 24) | (buffer[at + 1]! << 16) | (buffer[at + 2]! << 8) |
      buffer[at + 3]!) >>> 0;
  }

  #missingBytes(): number {
    const length = this.#frameLength() ?? 0;
    const missing = length + LENGTH_BYTES - (this.#end - this.#start);
    return missing > LENGTH_BYTES ? missing : LENGTH_BYTES;
  }

  /** Clears the bytes of frames that have been read. */
  forgetRead(): void {
    const former = this.#buffer;
    this.#move(this.#capacity);
    fillBytes(former, 0);
  }

  #makeRoom(needed: number): void {
    const wanted = this.#end - this.#start + needed;
    let capacity = INITIAL_CAPACITY_BYTES;
    while (capacity < wanted) capacity *= 2;
    this.#move(capacity);
  }

  /** Moves the unread bytes to a buffer of that size. */
  #move(capacity: number): void {
    const used = this.#end - this.#start;
    const unread = new Bytes(this.#memory, this.#start, used);
    this.#allocate(capacity);
    copyBytes(this.#buffer, unread);
    this.#end = used;
  }

  #allocate(capacity: number): void {
    this.#capacity = capacity;
    this.#memory = new Memory(capacity);
    this.#buffer = new Bytes(this.#memory);
    this.#start = 0;
    this.#end = 0;
  }

  #reset(): void {
    this.#start = 0;
    this.#end = 0;
    // One large event must not cost its memory for the rest of the worker's life.
    if (this.#capacity > INITIAL_CAPACITY_BYTES) this.#allocate(INITIAL_CAPACITY_BYTES);
  }
}

finalize(FrameReader);
