/**
 * Errors and responses of axios without the request they carry along.
 *
 * Components log and throw them whole, and their `config` and `request` hold the
 * credentials that were sent. Not responsible for anything nested deeper in a value.
 */

import { isObject } from "./component.ts";
import { withoutStream } from "./stream_shapes.ts";

/** The value, or the part of it that may be shown. */
export function withoutRequest(value: unknown): unknown {
  if (!isObject(value)) return value;
  try {
    if (value.isAxiosError === true) return errorOnly(value);
    return isResponse(value) ? answerOf(value) : value;
  } catch {
    // A getter that throws is handled where the value is shown.
    return value;
  }
}

function isResponse(value: Record<string, unknown>): boolean {
  return isObject(value.config) && "status" in value && "headers" in value;
}

function errorOnly(error: Record<string, unknown>): Error {
  const { name, message, stack, code, response } = error;
  const shown = new Error(String(message));
  if (typeof stack === "string") shown.stack = stack;
  Object.defineProperty(shown, "name", { value: name, enumerable: false });
  return Object.assign(
    shown,
    code === undefined ? {} : { code },
    isObject(response) ? { response: answerOf(response) } : {},
  );
}

function answerOf({ status, statusText, data }: Record<string, unknown>) {
  return { status, statusText, data: withoutStream(data) };
}
