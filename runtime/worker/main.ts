/**
 * Entry of a worker process: reads the host's frames until there are no more.
 *
 * Responsible for the order of things: built-ins are captured and the usual modules
 * loaded before `ready`, and component code comes only after that. Nothing here is
 * exported, so no component can import its way to the frame writer.
 */

import "./intrinsics.ts";
import "./warm_up.ts";
import { FrameReader } from "./frame_reader.ts";
import { createFrameWriter } from "./frame_writer.ts";
import {
  encodeUtf8,
  exitProcess,
  readStdin,
  writeStderr,
  writeStdout,
} from "./intrinsics.ts";
import { loadNamedImports } from "./named_imports.ts";
import { Outbox } from "./outbox.ts";
import { type HostFrame, PROTOCOL_VERSION } from "./protocol.ts";
import { Session } from "./session.ts";

const frames = new FrameReader();

/** Waits for more bytes; false when the host has hung up. */
async function readMore(): Promise<boolean> {
  const { memory, start, length } = frames.freeSpace();
  const count = await readStdin(memory, start, length);
  if (count === null) return false;
  frames.filled(count);
  return true;
}

async function firstFrame(): Promise<HostFrame | undefined> {
  let frame = frames.next();
  while (frame === undefined && await readMore()) frame = frames.next();
  return frame;
}

async function openSession(hello: HostFrame): Promise<Session> {
  if (hello.type !== "hello" || hello.version !== PROTOCOL_VERSION) {
    throw new Error(`expected hello with version ${PROTOCOL_VERSION}`);
  }
  const outbox = new Outbox(createFrameWriter(hello.token, writeStdout));
  const session = new Session(outbox);
  // The token came with it, and later reads go through code that is not the runtime's.
  frames.forgetRead();
  await session.install(hello);
  outbox.ready();
  return session;
}

async function serve(session: Session): Promise<void> {
  do {
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
      session.handle(frame);
    }
  } while (await readMore());
}

/** Loads what other processes will: Deno keeps it compiled in its cache, which those cannot write. */
async function fillCache(): Promise<void> {
  await loadNamedImports();
  for (const sharedModule of Deno.args) {
    // The component that imports it says why that fails.
    await import(sharedModule).catch(() => {});
  }
}

try {
  const hello = await firstFrame();
  if (hello === undefined) await fillCache();
  else await serve(await openSession(hello));
} catch (error) {
  // Only the host can cause this; errors of a component never get here.
  writeStderr(encodeUtf8(`headwater worker: ${error}\n`));
  exitProcess(1);
}
exitProcess(0);
