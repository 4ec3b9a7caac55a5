/**
 * The props of the actions that compare two values.
 *
 * Which of them are shown depends on the condition. Not responsible for comparing.
 */

import type { Comparison } from "./conditions.ts";

const TEXT = [
  ["CONTAINS", "contains"],
  ["NOT_CONTAINS", "does not contain"],
  ["TEXT_EQUALS", "is exactly"],
  ["TEXT_NOT_EQUALS", "is not exactly"],
  ["STARTS_WITH", "starts with"],
  ["NOT_STARTS_WITH", "does not start with"],
  ["ENDS_WITH", "ends with"],
  ["NOT_ENDS_WITH", "does not end with"],
] as const;
const NUMBER = [
  ["GREATER_THAN", "is greater than"],
  ["GREATER_THAN_EQUALS", "is greater than or equal to"],
  ["LESS_THAN", "is less than"],
  ["LESS_THAN_EQUALS", "is less than or equal to"],
  ["EQUALS", "is equal to"],
] as const;
const LIST = [
  ["IN_ARRAY", "is in the array"],
  ["NOT_IN_ARRAY", "is not in the array"],
] as const;
const KEY = [
  ["KEY_EXISTS", "is a key with a value"],
  ["KEY_NOT_EXISTS", "is not a key with a value"],
] as const;
const TRUTH = [["TRUE", "is true"], ["FALSE", "is false"]] as const;
const NOTHING = [
  ["IS_NULL", "is null or undefined"],
  ["NOT_NULL", "is neither null nor undefined"],
] as const;

const KINDS = { Text: TEXT, Number: NUMBER, Array: LIST, Object: KEY };
const ALONE = { Boolean: TRUTH, Null: NOTHING };

export interface ConditionValues {
  messageOnContinue?: string;
  messageOnEnd?: string;
  initialValue: unknown;
  condition: string;
  secondValue?: unknown;
  arrayType?: string;
  caseSensitive?: boolean;
}

export function conditionProps() {
  return {
    messageOnContinue: {
      type: "string",
      label: "Reason for continuing",
      description: "The message of a run that goes on.",
      optional: true,
    },
    messageOnEnd: {
      type: "string",
      label: "Reason for ending",
      description: "The message of a run that ends here.",
      optional: true,
    },
    initialValue: {
      type: "any",
      label: "Initial value",
      description: "The value that is checked.",
    },
    condition: {
      type: "string",
      label: "Condition",
      description: "The condition that the value is checked for.",
      options: [...options(KINDS), ...options(ALONE)],
      default: "CONTAINS",
      reloadProps: true,
    },
  };
}

/** Further props of the chosen condition. */
export function addedProps({ condition, arrayType }: ConditionValues) {
  const props: Record<string, unknown> = {};
  if (Object.values(ALONE).some((kind) => includes(kind, condition))) return props;
  props.secondValue = {
    type: "any",
    label: "Second value",
    description: "The value to compare with.",
  };
  const isList = includes(LIST, condition);
  if (isList) {
    props.arrayType = {
      type: "string",
      label: "Type of the items",
      description: "The type in which the value and the items are compared.",
      options: ["TEXT", "NUMBER"],
      default: "TEXT",
      reloadProps: true,
    };
  }
  if (includes(TEXT, condition) || (isList && (arrayType ?? "TEXT") === "TEXT")) {
    props.caseSensitive = {
      type: "boolean",
      label: "Case sensitive",
      description: "Whether capital and small letters differ.",
      optional: true,
      default: false,
    };
  }
  return props;
}

export function comparisonOf(values: ConditionValues): Comparison {
  return {
    condition: values.condition,
    first: values.initialValue,
    second: values.secondValue,
    caseSensitive: values.caseSensitive,
    itemType: values.arrayType ?? "TEXT",
  };
}

type Kind = readonly (readonly [condition: string, words: string])[];

function options(kinds: Record<string, Kind>) {
  return Object.entries(kinds).flatMap(([kind, conditions]) =>
    conditions.map(([value, words]) => ({ label: `[${kind}] ${words}`, value }))
  );
}

function includes(kind: Kind, condition: string): boolean {
  return kind.some(([value]) => value === condition);
}
