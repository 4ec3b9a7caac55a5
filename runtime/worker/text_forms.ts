/**
 * Values as text, and text as values: the conversions of templates, rules and props.
 *
 * Not responsible for deciding where to convert.
 */

import { jsonParse, jsonStringify, stringSlice, stringTrim } from "./intrinsics.ts";

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The text of a value inside other text: nothing for nothing, JSON for objects. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return String(value);
  const json = jsonStringify(value);
  // A `Date` is written as text, whose quotes nobody expects.
  return json?.[0] === '"' ? jsonParse(json) : json ?? "";
}

/** The number that a text is; undefined for other text. */
export function numberIn(text: string): number | undefined {
  const trimmed = stringTrim(text);
  return DECIMAL.test(trimmed) ? Number(trimmed) : undefined;
}

/** The value that a text is as JSON; undefined for other text. */
export function jsonIn(text: string): unknown {
  try {
    return jsonParse(text);
  } catch {
    return undefined;
  }
}

/** Whether the value's text is nothing but white space. */
export function isBlank(value: unknown): boolean {
  return stringTrim(textOf(value)) === "";
}

/** `/source/flags` as a regular expression; undefined for other text. */
export function patternIn(text: string): RegExp | undefined {
  const end = text.lastIndexOf("/");
  if (text[0] !== "/" || end < 2) return undefined;
  const flags = stringSlice(text, end + 1);
  return /^[a-z]*$/.test(flags)
    ? new RegExp(stringSlice(text, 1, end), flags)
    : undefined;
}
