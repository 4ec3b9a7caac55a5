/**
 * `$.respond` of a workflow's step: the response to the request that began the run.
 *
 * Responsible for its defaults and for bodies that come as a stream, in parts. Not
 * responsible for the moment at which it leaves, which is the host's.
 */

import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import { isFunction, isObject } from "./component.ts";
import type { Invocation } from "./invocation.ts";
import { kindOf } from "./kinds.ts";
import { normalizeResponse } from "./respond.ts";
import type { StepEffects } from "./step_effects.ts";

/** In base64, a part has a third more: 48 KiB. */
const PART_BYTES = 36 * 1024;
const USUAL_STATUS = 200;

/** The promise resolves when the body has been read. */
export async function respondInStep(
  invocation: Invocation,
  step: StepEffects,
  given: unknown,
): Promise<void> {
  if (!step.beginResponse()) return;
  try {
    const { body, immediate } = Object(given ?? {});
    const stream = streamOf(body);
    const isImmediate = immediate === true;
    if (stream === undefined) {
      const response = normalizeResponse(given, USUAL_STATUS);
      return step.respond(response, { isImmediate, hasMore: false });
    }
    if (isImmediate) {
      throw new TypeError("respond: a stream as body cannot be immediate");
    }
    const head = normalizeResponse({ ...given as object, body: "" }, USUAL_STATUS);
    step.respond(head, { isImmediate, hasMore: true });
    await sendBody(invocation, step, stream);
  } catch (thrown) {
    step.refuseResponse(thrown);
    throw thrown;
  }
}

async function sendBody(
  invocation: Invocation,
  step: StepEffects,
  stream: AsyncIterable<unknown>,
): Promise<void> {
  for await (const chunk of stream) {
    if (invocation.hasEnded) return;
    const bytes = bytesOf(chunk);
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      step.respondBody(bytes.toString("base64", at, at + PART_BYTES), true);
    }
  }
  step.respondBody("", false);
}

/** Streams of Node, old ones too, and of the web. */
function streamOf(body: unknown): AsyncIterable<unknown> | undefined {
  if (!isObject(body) || ArrayBuffer.isView(body)) return undefined;
  if (Symbol.asyncIterator in body) return body as unknown as AsyncIterable<unknown>;
  if (!isFunction(body.pipe)) return undefined;
  return new Readable().wrap(body as unknown as NodeJS.ReadableStream);
}

function bytesOf(chunk: unknown): Buffer {
  if (typeof chunk === "string") return Buffer.from(chunk);
  if (ArrayBuffer.isView(chunk)) {
    return Buffer.from(chunk.buffer as ArrayBuffer, chunk.byteOffset, chunk.byteLength);
  }
  if (chunk instanceof ArrayBuffer) return Buffer.from(chunk);
  throw new TypeError(
    `respond: the body's stream gave ${kindOf(chunk)}, neither bytes nor text`,
  );
}
