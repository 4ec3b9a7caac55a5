/** Frames survive any chunking, and several become one write. */

import assert from "node:assert/strict";
import { FrameReader } from "../worker/frame_reader.ts";
import { createFrameWriter } from "../worker/frame_writer.ts";

const TOKEN = "ff".repeat(16);

function encoded(frame: unknown): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(frame));
  const bytes = new Uint8Array(4 + json.length);
  new DataView(bytes.buffer).setUint32(0, json.length);
  bytes.set(json, 4);
  return bytes;
}

function readInChunks(bytes: Uint8Array, chunkBytes: number): unknown[] {
  const reader = new FrameReader();
  const frames: unknown[] = [];
  for (let at = 0; at < bytes.length;) {
    const { memory, start, length } = reader.freeSpace();
    const space = new Uint8Array(memory, start, length);
    const chunk = bytes.subarray(at, at + Math.min(chunkBytes, space.length));
    space.set(chunk);
    reader.filled(chunk.length);
    at += chunk.length;
    for (let frame = reader.next(); frame; frame = reader.next()) frames.push(frame);
  }
  return frames;
}

Deno.test("frames are read whole however the bytes arrive", () => {
  const frames = [{ a: "é😀" }, { big: "x".repeat(200_000) }, {}, { b: [1] }];
  const bytes = new Uint8Array(frames.flatMap((frame) => [...encoded(frame)]));
  for (const chunkBytes of [1, 3, 7, 4096, 1 << 20]) {
    assert.deepEqual(
      readInChunks(bytes, chunkBytes),
      frames,
      `chunks of ${chunkBytes}`,
    );
  }
});

Deno.test("frames of one turn are written together, in order", async () => {
  const writes: string[] = [];
  const writer = createFrameWriter(TOKEN, (bytes) => {
    writes.push(new TextDecoder("latin1").decode(bytes));
    return bytes.length;
  });
  writer.writeSoon("1");
  await Promise.resolve().then(() => {}).then(() => writer.writeSoon("22"));
  assert.equal(writes.length, 0);
  await new Promise((resolve) => setTimeout(resolve, 0));
  const head = "ÿ".repeat(16) + "\0\0\0";
  assert.deepEqual(writes, [`${head}\x011${head}\x0222`]);
  writer.writeSoon("3");
  writer.writeNow("4");
  assert.equal(writes[1], `${head}\x013${head}\x014`);
});

Deno.test("a pipe that takes less than offered gets the rest again", () => {
  let received = "";
  const writer = createFrameWriter(TOKEN, (bytes) => {
    const part = bytes.subarray(0, 7);
    received += new TextDecoder("latin1").decode(part);
    return part.length;
  });
  const json = `"${"y".repeat(100_000)}"`;
  writer.writeNow(json);
  assert.equal(received.slice(20), json);
});

Deno.test("a token that is no token is refused", () => {
  assert.throws(() => createFrameWriter("xyz", () => 0), /32 hex digits/);
});
