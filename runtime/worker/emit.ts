/**
 * The second argument of `$emit`: its forms and their meaning.
 *
 * Published components pass rows straight from databases and APIs, so a value with
 * one obvious reading is taken; one without is an error that names the field. Not
 * responsible for the event itself nor for dedupe, which the host decides.
 */

import { kindOf } from "./kinds.ts";
import type { EmitOptions } from "./protocol.ts";

/** @param warn is called for each value that is ignored because it cannot be read */
export function normalizeEmitOptions(
  options: unknown,
  warn: (text: string) => void,
): EmitOptions {
  if (options === undefined || options === null) return {};
  if (typeof options !== "object") {
    throw new TypeError(`$emit: options must be an object, not ${kindOf(options)}`);
  }
  const given = options as Record<string, unknown>;
  const wire: EmitOptions = {};
  const id = readId(given.id);
  if (id !== undefined) wire.id = id;
  const name = readText("name", given.name);
  if (name !== undefined) wire.name = name;
  const summary = readText("summary", given.summary);
  if (summary !== undefined) wire.summary = summary;
  const ts = readTime(given.ts);
  if (ts === null) warn(`${unreadable("ts", given.ts)}; the event has none`);
  else if (ts !== undefined) wire.ts = ts;
  const deliveryTs = readTime(given.delivery_ts);
  // A delivery at the wrong time is worse than a failure; a `ts` only gives an order.
  if (deliveryTs === null) {
    throw new TypeError(unreadable("delivery_ts", given.delivery_ts));
  }
  if (deliveryTs !== undefined) wire.delivery_ts = deliveryTs;
  return wire;
}

function readId(value: unknown): string | number | undefined {
  if (value === undefined || value === null || typeof value === "string") {
    return value ?? undefined;
  }
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "bigint") return String(value);
  if (isValidDate(value)) return value.toISOString();
  throw invalid("id", "a string or a number", value);
}

function readText(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  if (isValidDate(value)) return value.toISOString();
  if (typeof value === "object" || typeof value === "function") {
    throw invalid(field, "a string", value);
  }
  return String(value);
}

/** Null for an unreadable value. */
function readTime(value: unknown): number | null | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const time = epochMs(value);
  return Number.isSafeInteger(time) ? time : null;
}

function unreadable(field: string, value: unknown): string {
  return `$emit: ${field} must be epoch milliseconds or a Date, not ${kindOf(value)}`;
}

function epochMs(value: unknown): number {
  if (typeof value === "number") return Math.trunc(value);
  if (value instanceof Date) return value.getTime();
  if (typeof value !== "string") return NaN;
  const number = Number(value);
  return Number.isNaN(number) ? Date.parse(value) : Math.trunc(number);
}

function isValidDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

function invalid(field: string, expected: string, value: unknown): TypeError {
  return new TypeError(`$emit: ${field} must be ${expected}, not ${kindOf(value)}`);
}

const RESERVED = ["$errors", "$logs", "$in"];

/** The error about emitting on that channel, with the caller's stack. */
export function reservedChannel(name: string | undefined): Error | undefined {
  if (name === undefined || !RESERVED.includes(name)) return undefined;
  return new EmitError(
    `$emit: \`${name}\` is the platform's own channel; choose a name without \`$\``,
  );
}

class EmitError extends Error {}

EmitError.prototype.name = "EmitError";
