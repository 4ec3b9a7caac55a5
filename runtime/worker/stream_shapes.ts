/**
 * Streams, sockets and messages of Node in values that are shown to others.
 *
 * Their internals hold the request as it was sent, credentials in its headers. A
 * response whose body is a stream is exported as such an object, or a plain copy that a
 * package made of it; both are recognized by fields that only those objects have. Not
 * responsible for data that a component puts into a value itself.
 */

import { isObject } from "./component.ts";
import { jsonParse, jsonStringify, stringIncludes } from "./intrinsics.ts";

const MARKS = ["_readableState", "_writableState", "_httpMessage", "_headerSent"];

/** JSON text in which such objects are replaced by the response's data, or a placeholder. */
export function withoutStreams(json: string | undefined): string | undefined {
  if (json === undefined || !hasMark(json)) return json;
  return jsonStringify(shown(jsonParse(json)));
}

function hasMark(json: string): boolean {
  for (let i = 0; i < MARKS.length; i++) {
    if (stringIncludes(json, `"${MARKS[i]}"`)) return true;
  }
  return false;
}

/** A value, or for a stream the part that may be shown. */
export function withoutStream(value: unknown): unknown {
  if (!isObject(value) || !MARKS.some((mark) => mark in value)) return value;
  const { statusCode, statusMessage, headers } = value;
  return typeof statusCode === "number"
    ? { statusCode, statusMessage, headers }
    : "[stream]";
}

function shown(given: unknown): unknown {
  const value = withoutStream(given);
  if (Array.isArray(value)) return value.map(shown);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, shown(field)]),
  );
}
