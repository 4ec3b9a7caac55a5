/**
 * The conditions that the `filter` actions check, under the names that stored steps have.
 *
 * Names of former releases are understood too: `IN` is `CONTAINS`, dates have their own.
 * Not responsible for the built-in rules of steps (`_filter`), which the runtime checks.
 */

import { configurationError } from "../configuration_error.ts";

export interface Comparison {
  condition: string;
  first: unknown;
  second?: unknown;
  caseSensitive?: boolean | undefined;
  /** Of the items of a list. */
  itemType?: string | undefined;
}

type Condition = (comparison: Comparison) => boolean;

export function holds(comparison: Comparison): boolean {
  const { condition } = comparison;
  const check = Object.hasOwn(CONDITIONS, condition)
    ? CONDITIONS[condition]
    : undefined;
  if (check !== undefined) return check(comparison);
  const known = Object.keys(CONDITIONS).join(", ");
  throw configurationError(
    `the condition \`${condition}\` is unknown; there are ${known}`,
  );
}

const not = (condition: Condition): Condition => (comparison) => !condition(comparison);

const ofText =
  (compare: (a: string, b: string) => boolean): Condition =>
  ({ first, second, caseSensitive }) =>
    compare(textIn(first, caseSensitive), textIn(second, caseSensitive));

const ofNumbers =
  (compare: (a: number, b: number) => boolean): Condition => ({ first, second }) =>
    compare(numberIn(first), numberIn(second));

const ofDates =
  (compare: (a: number, b: number) => boolean): Condition => ({ first, second }) =>
    compare(timeIn(first), timeIn(second));

const contains = ofText((a, b) => a.includes(b));
const textEquals = ofText((a, b) => a === b);
const startsWith = ofText((a, b) => a.startsWith(b));
const endsWith = ofText((a, b) => a.endsWith(b));
const isTrue: Condition = ({ first }) => Boolean(first);
const isNull: Condition = ({ first }) => isNothing(first);

const isInList: Condition = ({ first, second, itemType, caseSensitive }) => {
  const asItem = ITEM_TYPES[itemType ?? ""] ?? ((item: unknown) => item);
  const wanted = asItem(first, caseSensitive);
  return listIn(second).some((item) => asItem(item, caseSensitive) === wanted);
};

/** The first value is the key. */
const hasKey: Condition = ({ first, second }) => {
  const object = objectIn(second);
  const key = String(first);
  return Object.hasOwn(object, key) && !isNothing(object[key]);
};

/** The second value is the key, as in the first release. */
const hasKeyNamed: Condition = ({ first, second }) =>
  Object.hasOwn(objectIn(first), String(second));

const CONDITIONS: Record<string, Condition> = {
  CONTAINS: contains,
  NOT_CONTAINS: not(contains),
  IN: contains,
  NOT_IN: not(contains),
  TEXT_EQUALS: textEquals,
  TEXT_NOT_EQUALS: not(textEquals),
  STARTS_WITH: startsWith,
  NOT_STARTS_WITH: not(startsWith),
  ENDS_WITH: endsWith,
  NOT_ENDS_WITH: not(endsWith),
  GREATER_THAN: ofNumbers((a, b) => a > b),
  GREATER_THAN_EQUALS: ofNumbers((a, b) => a >= b),
  LESS_THAN: ofNumbers((a, b) => a < b),
  LESS_THAN_EQUALS: ofNumbers((a, b) => a <= b),
  EQUALS: ofNumbers((a, b) => a === b),
  AFTER: ofDates((a, b) => a > b),
  BEFORE: ofDates((a, b) => a < b),
  DATE_EQUALS: ofDates((a, b) => a === b),
  IN_ARRAY: isInList,
  NOT_IN_ARRAY: not(isInList),
  KEY_EXISTS: hasKey,
  KEY_NOT_EXISTS: not(hasKey),
  EXISTS: hasKeyNamed,
  NOT_EXISTS: not(hasKeyNamed),
  TRUE: isTrue,
  FALSE: not(isTrue),
  IS_NULL: isNull,
  NOT_NULL: not(isNull),
};

type ItemType = (value: unknown, caseSensitive?: boolean) => unknown;

const ITEM_TYPES: Record<string, ItemType> = {
  TEXT: textIn,
  NUMBER: numberIn,
  string: (value) => String(value),
  integer: numberIn,
  boolean: (value) => String(value) === "true",
};

/** Also the words, which expressions inside other text become. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "null" ||
    value === "undefined";
}

function textIn(value: unknown, caseSensitive?: boolean): string {
  const text = String(value);
  return caseSensitive ? text : text.toLowerCase();
}

function numberIn(value: unknown): number {
  const number = Number.parseFloat(String(value));
  if (!Number.isNaN(number)) return number;
  throw new Error(`\`${value}\` is not a number, which the condition compares`);
}

function timeIn(value: unknown): number {
  const isNumber = String(value).trim() !== "" && !Number.isNaN(Number(value));
  const time = new Date(isNumber ? Number(value) : String(value)).getTime();
  if (!Number.isNaN(time)) return time;
  throw new Error(`\`${value}\` is not a date, which the condition compares`);
}

function listIn(value: unknown): unknown[] {
  const list = typeof value === "string" ? jsonIn(value) : value;
  if (Array.isArray(list)) return list;
  throw configurationError("the second value must be an array, or JSON text of one");
}

function objectIn(value: unknown): Record<string, unknown> {
  const object = typeof value === "string" ? jsonIn(value) : value;
  if (typeof object === "object" && object !== null && !Array.isArray(object)) {
    return object as Record<string, unknown>;
  }
  throw configurationError("the value must be an object, or JSON text of one");
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
