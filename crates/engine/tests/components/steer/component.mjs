// What a run does is said by its event.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";

const forever = () => new Promise((resolve) => setTimeout(resolve, 3_600_000));

function hog() {
  const kept = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
}

function hogBuffers() {
  globalThis.kept = [];
  return new Promise((_, reject) => {
    const timer = setInterval(() => {
      globalThis.kept.push(Buffer.alloc(32 * 1024 * 1024, 1));
      if (globalThis.kept.length > 100) reject(new Error("nobody minds"), clearInterval(timer));
    }, 20);
  });
}

const MIB = 1024 * 1024;

/// Takes memory in one go, faster than anybody can look.
function burst() {
  globalThis.kept = [];
  for (let i = 0; i < 200; i++) globalThis.kept.push(new Uint8Array(64 * MIB).fill(1));
}

function fill(name, mib) {
  const file = fs.openSync(path.join(os.tmpdir(), name), "w");
  const chunk = Buffer.alloc(8 * MIB, 1);
  for (let written = 0; written < mib; written += 8) fs.writeSync(file, chunk);
  fs.closeSync(file);
}

function forgedFrame(id) {
  const body = Buffer.from(JSON.stringify({ type: "outcome", id, value: "forged" }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return [Buffer.concat([length, body]), Buffer.concat([Buffer.alloc(16), length, body])];
}

const deeds = {
  echo: ({ value }) => value,
  wait: forever,
  waitForRelease: () => new Promise((resolve) => (globalThis.release = resolve)),
  release: () => globalThis.release(),
  loop() {
    for (;;);
  },
  hold({ ms }) {
    // Processor time: on a busy machine the rest of it is others'.
    const { user } = process.cpuUsage();
    while (process.cpuUsage().user - user < ms * 1000) {
      const pause = performance.now() + 20;
      while (performance.now() < pause);
    }
  },
  hog,
  hogBuffers,
  burst,
  // In V8's own heap, whose limit nobody has to watch.
  grow({ mib }) {
    globalThis.kept = [];
    for (let i = 0; i < mib; i++) globalThis.kept.push(new Array(MIB / 8).fill(i + 0.5));
  },
  keep({ mib }) {
    globalThis.kept = new Uint8Array(mib * MIB).fill(1);
  },
  manyFiles() {
    for (let i = 0; i < 5; i++) fill(`file-${i}`, 256);
    return forever();
  },
  largeFile: () => fill("file", 520),
  exit() {
    process.exit(3);
  },
  abort() {
    process.abort();
  },
  async reject() {
    const noticed = new Promise((resolve) => addEventListener("unhandledrejection", resolve, { once: true }));
    Promise.reject(new Error("unhandled"));
    await noticed;
  },
  manyLogs() {
    const line = "x".repeat(1024 * 1024);
    for (let i = 0; i < 50; i++) console.log(line);
  },
  emptyLogs() {
    for (let i = 0; i < 200_000; i++) console.log("");
  },
  stderr() {
    fs.writeSync(2, "past the runtime\n");
    return forever();
  },
  noise() {
    for (let i = 0; i < 50; i++) fs.writeSync(1, "n".repeat(64 * 1024));
    return "heard";
  },
  forge() {
    for (const frame of [1, 2, 3].flatMap(forgedFrame)) fs.writeSync(1, frame);
    return "genuine";
  },
  bigEmits({ count, size }) {
    for (let i = 0; i < count; i++) this.$emit("e".repeat(size));
    return forever();
  },
  bigValue: ({ size }) => "v".repeat(size),
  environment: () => ({ ...process.env }),
};

export default {
  name: "Steer",
  version: "0.0.1",
  run(event) {
    this.$emit(`before ${event.deed}`);
    return deeds[event.deed].call(this, event);
  },
};
