/**
 * Component values as JSON text that the host can always parse.
 *
 * `JSON.stringify` alone is not enough: it writes lone surrogates as escapes and
 * nests without limit, both of which the host's parser refuses, and the host treats
 * an unparsable frame as a broken worker. Not responsible for sizes.
 */

import {
  jsonStringify,
  stringIncludes,
  stringIndexOf,
  stringSlice,
  stringSplitBy,
  toWellFormed,
} from "./intrinsics.ts";

/** Below the usual parser limit of 128, leaving room for the frame around a value. */
export const MAX_DEPTH = 120;

/** Text as a JSON string. */
export function quote(text: string): string {
  return jsonStringify(toWellFormed(text));
}

/**
 * A value as JSON, or undefined for `undefined`.
 * @param what the call and the value, for the error, as in `$emit: event`
 */
export function toJson(value: unknown, what: string): string | undefined {
  if (value === undefined) return undefined;
  let json: string | undefined;
  try {
    json = jsonStringify(value);
  } catch (error) {
    throw notSerializable(what, firstLine(error));
  }
  if (json === undefined) throw notSerializable(what, `it is a ${typeof value}`);
  if (json.length > 2 * MAX_DEPTH && depthOf(json) > MAX_DEPTH) {
    throw notSerializable(what, `it is nested deeper than ${MAX_DEPTH} levels`);
  }
  return wellFormedJson(json);
}

function notSerializable(what: string, why: string): TypeError {
  return new TypeError(`${what} is not JSON-serializable: ${why}`);
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : `${error}`;
  return stringSplitBy(message, "\n")[0] ?? "";
}

/** `JSON.stringify` writes a lone surrogate as an escape, and no other character so. */
function wellFormedJson(json: string): string {
  if (!stringIncludes(json, "\\ud")) return json;
  let text = "";
  let done = 0;
  let at = stringIndexOf(json, "\\", 0);
  while (at >= 0) {
    const isSurrogate = json[at + 1] === "u" && json[at + 2] === "d";
    if (isSurrogate) {
      text += stringSlice(json, done, at) + "\ufffd";
      done = at + 6;
    }
    at = stringIndexOf(json, "\\", at + (isSurrogate ? 6 : 2));
  }
  return text + stringSlice(json, done);
}

function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case '"':
        i = endOfString(json, i);
        break;
      case "[":
      case "{":
        if (++depth > deepest) deepest = depth;
        break;
      case "]":
      case "}":
        depth--;
    }
  }
  return deepest;
}

function endOfString(json: string, start: number): number {
  let i = start + 1;
  while (json[i] !== '"') i += json[i] === "\\" ? 2 : 1;
  return i;
}
