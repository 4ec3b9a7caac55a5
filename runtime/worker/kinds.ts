/**
 * Values in the messages of errors about them.
 *
 * Not responsible for showing whole values (`console.ts`).
 */

const SHOWN_CHARACTERS = 40;

/** The value, if it is short, or its kind. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === "number") return String(value);
  if (typeof value === "string") {
    return `the string "${value.slice(0, SHOWN_CHARACTERS)}"`;
  }
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? "an invalid Date" : "a Date";
  }
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
