/**
 * Values of props in the form that an action works on.
 *
 * An expression may have given nothing, or a value of another type: the errors name the
 * prop. Not responsible for defaults, which the props themselves have.
 */

import { configurationError } from "./configuration_error.ts";

export function textOf(name: string, value: unknown): string {
  if (value === undefined || value === null) throw missing(name);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function numberOf(name: string, value: unknown): number {
  const text = textOf(name, value);
  const number = text.trim() === "" ? NaN : Number(text);
  if (Number.isFinite(number)) return number;
  throw configurationError(`\`${name}\` must be a number, not \`${text}\``);
}

/** A list, or a single value as a list of one. */
export function listOf(name: string, value: unknown): unknown[] {
  if (value === undefined || value === null) throw missing(name);
  return Array.isArray(value) ? value : [value];
}

function missing(name: string): Error {
  return configurationError(
    `\`${name}\` has no value: enter one, or check the expression that it comes from`,
  );
}
