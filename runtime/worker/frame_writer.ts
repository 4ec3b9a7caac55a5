/**
 * Puts frames on standard output: the session token, a 4-byte length, JSON.
 *
 * Responsible for keeping the token inside a closure and for joining the frames of
 * one microtask turn into one write. Asks no view for its buffer or its length: those
 * are accessors, which a component may replace and which would be handed the token. Not
 * responsible for the frames' contents.
 */

import { Bytes, encodeInto, Memory, microtask } from "./intrinsics.ts";

const TOKEN_BYTES = 16;
const HEADER_BYTES = TOKEN_BYTES + 4;
const KEPT_CAPACITY_BYTES = 64 * 1024;
const FLUSH_AT_BYTES = 32 * 1024;

// A run that answers and returns needs a few microtasks between its `respond` and its
// `outcome` frame; waiting this many quiet ones puts both into one write.
const QUIET_MICROTASKS = 6;
const MAX_MICROTASKS = 200;

export interface FrameWriter {
  /** Written before the call returns, with everything queued before it. */
  writeNow(json: string): void;
  /** Written at the end of the current microtask turn. */
  writeSoon(json: string): void;
}

export type WriteBytes = (bytes: Uint8Array) => number;

function parseToken(hex: string): Uint8Array {
  if (!/^[0-9a-f]{32}$/i.test(hex)) {
    throw new Error("hello: token is not 32 hex digits");
  }
  const token = new Bytes(TOKEN_BYTES);
  for (let i = 0; i < TOKEN_BYTES; i++) {
    token[i] = Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16);
  }
  return token;
}

export function createFrameWriter(tokenHex: string, write: WriteBytes): FrameWriter {
  const token = parseToken(tokenHex);
  let capacity = KEPT_CAPACITY_BYTES;
  let memory = new Memory(capacity);
  let buffer = new Bytes(memory);
  let length = 0;
  let isScheduled = false;

  function resize(bytes: number): void {
    capacity = bytes;
    memory = new Memory(capacity);
    buffer = new Bytes(memory);
  }

  function reserve(bytes: number): void {
    if (capacity - length >= bytes) return;
    flush();
    if (capacity < bytes) resize(bytes);
  }

  function append(json: string): void {
    // UTF-8 needs at most three bytes per UTF-16 unit.
    reserve(HEADER_BYTES + json.length * 3);
    const start = length;
    for (let i = 0; i < TOKEN_BYTES; i++) buffer[start + i] = token[i]!;
    const body = new Bytes(memory, start + HEADER_BYTES);
    const written = encodeInto(json, body).written;
    buffer[start + TOKEN_BYTES] = written >>> 24;
    buffer[start + TOKEN_BYTES + 1] = written >>> 16;
    buffer[start + TOKEN_BYTES + 2] = written >>> 8;
    buffer[start + TOKEN_BYTES + 3] = written;
    length = start + HEADER_BYTES + written;
  }

  function flush(): void {
    let done = 0;
    while (done < length) done += write(new Bytes(memory, done, length - done));
    length = 0;
    if (capacity > KEPT_CAPACITY_BYTES) resize(KEPT_CAPACITY_BYTES);
  }

  function scheduleFlush(): void {
    isScheduled = true;
    let seen = length;
    let quiet = 0;
    let total = 0;
    const step = () => {
      quiet = length === seen ? quiet + 1 : 0;
      seen = length;
      if (quiet < QUIET_MICROTASKS && ++total < MAX_MICROTASKS) return microtask(step);
      isScheduled = false;
      flush();
    };
    microtask(step);
  }

  return {
    writeNow(json) {
      append(json);
      flush();
    },
    writeSoon(json) {
      append(json);
      if (length >= FLUSH_AT_BYTES) flush();
      else if (!isScheduled) scheduleFlush();
    },
  };
}
