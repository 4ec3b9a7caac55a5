/**
 * The props of the former actions that compare two values: first the type is chosen,
 * then the condition.
 *
 * Kept for steps that were stored with them. Not responsible for comparing.
 */

import type { StepArguments } from "../step.ts";
import { type Comparison, holds } from "./conditions.ts";

export interface OperandValues {
  reasonContinuing?: string;
  reasonEnding?: string;
  valueType: string;
  condition: string;
  operand1: unknown;
  operand2?: unknown;
  caseSensitive?: boolean;
  arrayType?: string;
}

const FIRST = { label: "First value", description: "The value that is checked." };
const SECOND = { label: "Second value", description: "The value to compare with." };

const CONDITIONS: Record<string, string[]> = {
  TEXT: [
    ...["IN", "NOT_IN", "TEXT_EQUALS", "TEXT_NOT_EQUALS"],
    ...["STARTS_WITH", "NOT_STARTS_WITH", "ENDS_WITH", "NOT_ENDS_WITH"],
  ],
  NUMBER: [
    ...["GREATER_THAN", "GREATER_THAN_EQUALS", "LESS_THAN", "LESS_THAN_EQUALS"],
    "EQUALS",
  ],
  DATETIME: ["AFTER", "BEFORE", "DATE_EQUALS"],
  BOOLEAN: ["TRUE", "FALSE"],
  NULL: ["IS_NULL", "NOT_NULL"],
  ARRAY: ["IN_ARRAY", "NOT_IN_ARRAY"],
  OBJECT: ["KEY_EXISTS", "KEY_NOT_EXISTS"],
};

export const OPERAND_PROPS = {
  reasonContinuing: {
    type: "string",
    label: "Reason to continue",
    description: "The summary of a step after which the run goes on.",
    // Shown by the runs of stored steps that have no reason of their own.
    default: "Condition met for continuing workflow",
    optional: true,
  },
  reasonEnding: {
    type: "string",
    label: "Reason to end",
    description: "The message of a run that ends here.",
    default: "Condition met for ending workflow",
    optional: true,
  },
  valueType: {
    type: "string",
    label: "Type",
    description: "The type of the value that is checked.",
    options: Object.keys(CONDITIONS),
    reloadProps: true,
  },
  condition: {
    type: "string",
    label: "Condition",
    description: "The condition that the value is checked for.",
    options(this: Partial<OperandValues>): string[] {
      return CONDITIONS[this.valueType ?? ""] ?? Object.values(CONDITIONS).flat();
    },
    reloadProps: true,
  },
};

/** The operands, in the chosen type. */
export function operandProps({ valueType, arrayType }: OperandValues) {
  const pair = (first: string, second: string) => ({
    operand1: { ...FIRST, type: first },
    operand2: { ...SECOND, type: second },
  });
  switch (valueType) {
    case "TEXT":
      return { ...pair("string", "string"), caseSensitive: CASE_SENSITIVE };
    case "NUMBER":
      // An `integer` could have no fraction.
      return pair("string", "string");
    case "DATETIME":
      return pair("integer", "integer");
    case "BOOLEAN":
      return { operand1: { ...FIRST, type: "boolean" } };
    case "NULL":
      return { operand1: { ...FIRST, type: "string" } };
    case "ARRAY": {
      const operands = arrayType ? pair(arrayType, `${arrayType}[]`) : {};
      return { arrayType: ARRAY_TYPE, ...operands };
    }
    case "OBJECT":
      return pair("string", "object");
  }
  return {};
}

const CASE_SENSITIVE = {
  type: "boolean",
  label: "Case sensitive",
  description: "Whether capital and small letters differ.",
  default: false,
};

const ARRAY_TYPE = {
  type: "string",
  label: "Type of the items",
  description: "The type of the array's items.",
  options: ["string", "integer", "boolean"],
  reloadProps: true,
};

/** Whether the condition holds. */
export function operandsHold(values: OperandValues): boolean {
  const comparison: Comparison = {
    condition: values.condition,
    first: values.operand1,
    second: values.operand2,
    caseSensitive: values.caseSensitive,
    itemType: values.arrayType,
  };
  return holds(comparison);
}

/** Ends the run or lets it go on, with the reason that is configured. */
export function endOrContinue(
  values: OperandValues,
  { $ }: StepArguments,
  ends: boolean,
): unknown {
  if (ends) {
    return $.flow.exit(values.reasonEnding ?? OPERAND_PROPS.reasonEnding.default);
  }
  const reason = values.reasonContinuing ?? OPERAND_PROPS.reasonContinuing.default;
  $.export("$summary", reason);
  return undefined;
}
