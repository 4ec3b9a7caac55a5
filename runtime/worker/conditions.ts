/**
 * Conditions of workflows: guards, branches and rules.
 *
 * Responsible for the meaning of each operator. Not responsible for what follows from
 * the answer.
 */

import { isDeepStrictEqual } from "node:util";
import { evaluate, expressionOf } from "./expressions.ts";
import { hasOwn, isArray, ownFields } from "./intrinsics.ts";
import { fillIn } from "./templates.ts";
import { isBlank, jsonIn, numberIn, patternIn, textOf } from "./text_forms.ts";
import type { Condition, Steps } from "./workflow_input.ts";

type Operator = (a: unknown, b: unknown) => boolean;

export async function holds(condition: Condition, steps: Steps): Promise<boolean> {
  if (hasOwn(condition, "expression")) {
    const { expression: text } = condition as { expression: string };
    const expression = expressionOf(text);
    const value = evaluate(expression, steps);
    return Boolean(expression.isAsync ? await value : value);
  }
  if (hasOwn(condition, "not")) {
    return !await holds((condition as { not: Condition }).not, steps);
  }
  if (hasOwn(condition, "and")) {
    return !await hasOneThat(false, (condition as { and: Condition[] }).and, steps);
  }
  if (hasOwn(condition, "or")) {
    return await hasOneThat(true, (condition as { or: Condition[] }).or, steps);
  }
  return await ruleHolds(condition, steps);
}

/** Whether one of them holds, or does not; those after it are not evaluated. */
async function hasOneThat(
  holding: boolean,
  conditions: Condition[],
  steps: Steps,
): Promise<boolean> {
  for (let i = 0; i < conditions.length; i++) {
    if (await holds(conditions[i]!, steps) === holding) return true;
  }
  return false;
}

async function ruleHolds(condition: Condition, steps: Steps): Promise<boolean> {
  const rule = ownFields<{ op?: unknown; a?: unknown; b?: unknown }>(condition);
  const operator = OPERATORS[rule.op as string];
  if (operator === undefined) throw new TypeError(`unknown operator "${rule.op}"`);
  await fillIn(rule, "a", steps);
  await fillIn(rule, "b", steps);
  return operator(rule.a, rule.b);
}

const not = (operator: Operator): Operator => (a, b) => !operator(a, b);
const ofText = (compare: (a: string, b: string) => boolean): Operator => (a, b) =>
  compare(textOf(a), textOf(b));
/** False for everything that is not a number or the text of one. */
const ofNumbers = (compare: (a: number, b: number) => boolean): Operator => (a, b) =>
  compare(numberOf(a), numberOf(b));

const isMissing: Operator = (a) => a === undefined || a === null;
const isText = (a: unknown): a is string => typeof a === "string";
const isObject = (a: unknown): a is object =>
  typeof a === "object" && a !== null && !isArray(a);

const textEquals = ofText((a, b) => a === b);
const textStartsWith = ofText((a, b) => a.startsWith(b));
const textEndsWith = ofText((a, b) => a.endsWith(b));
const textContains = ofText((a, b) => a.includes(b));
const textMatches: Operator = (a, b) => {
  const pattern = b instanceof RegExp ? b : patternIn(textOf(b));
  return pattern === undefined ? textContains(a, b) : textOf(a).search(pattern) >= 0;
};
const numberEquals = ofNumbers((a, b) => a === b);

const isIn: Operator = (a, b) => {
  const items = isText(b) ? jsonIn(b) : b;
  if (!isArray(items)) return isText(b) && textContains(b, a);
  for (let i = 0; i < items.length; i++) {
    if (isDeepStrictEqual(items[i], a)) return true;
  }
  return false;
};

/** `a` is the name of the key. */
const keyExists: Operator = (a, b) => {
  const object = isText(b) ? jsonIn(b) : b;
  if (typeof object !== "object" || object === null) return false;
  const key = textOf(a);
  return hasOwn(object, key) && !isMissing((object as any)[key], undefined);
};

function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.getTime();
  return isText(value) ? numberIn(value) ?? NaN : NaN;
}

const OPERATORS: Record<string, Operator> = {
  // Without a prototype, so that no name finds anything else.
  __proto__: null as never,
  exists: not(isMissing),
  not_exists: isMissing,
  equals: isDeepStrictEqual,
  not_equals: not(isDeepStrictEqual),
  text_equals: textEquals,
  text_not_equals: not(textEquals),
  text_blank: isBlank,
  text_not_blank: not(isBlank),
  text_starts_with: textStartsWith,
  text_not_starts_with: not(textStartsWith),
  text_ends_with: textEndsWith,
  text_not_ends_with: not(textEndsWith),
  text_contains: textContains,
  text_not_contains: not(textContains),
  text_matches: textMatches,
  text_not_matches: not(textMatches),
  number_equals: numberEquals,
  number_not_equals: not(numberEquals),
  number_greater: ofNumbers((a, b) => a > b),
  number_greater_or_equal: ofNumbers((a, b) => a >= b),
  number_less: ofNumbers((a, b) => a < b),
  number_less_or_equal: ofNumbers((a, b) => a <= b),
  is_true: (a) => a === true || a === "true",
  is_false: (a) => a === false || a === "false",
  is_boolean: (a) => typeof a === "boolean",
  is_null: isMissing,
  is_not_null: not(isMissing),
  is_text: isText,
  is_number: (a) => typeof a === "number" && !Number.isNaN(a),
  is_array: isArray,
  is_object: isObject,
  in: isIn,
  not_in: not(isIn),
  key_exists: keyExists,
  key_not_exists: not(keyExists),
};
