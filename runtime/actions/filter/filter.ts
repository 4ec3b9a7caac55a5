/**
 * `filter-filter`, the first of the `filter` actions: one for ending and for continuing.
 *
 * Not offered for new steps; kept so that stored ones run.
 */

import { configurationError } from "../configuration_error.ts";
import type { StepArguments } from "../step.ts";
import { holds } from "./conditions.ts";

interface Props {
  continue: unknown;
  inputField: unknown;
  condition: string;
  valueToCompare?: unknown;
}

const CONDITIONS = [
  ...["IN", "NOT_IN", "TEXT_EQUALS", "TEXT_NOT_EQUALS"],
  ...["STARTS_WITH", "NOT_STARTS_WITH", "ENDS_WITH", "NOT_ENDS_WITH"],
  ...["GREATER_THAN", "GREATER_THAN_EQUALS", "LESS_THAN", "LESS_THAN_EQUALS"],
  ...["EQUALS", "AFTER", "BEFORE", "DATE_EQUALS"],
  ...["TRUE", "FALSE", "EXISTS", "NOT_EXISTS"],
];
const OF_BOOLEANS = ["TRUE", "FALSE"];
/** In this action these look at one value only. */
const ALONE = [...OF_BOOLEANS, "IS_NULL", "NOT_NULL"];

export default {
  key: "filter-filter",
  name: "Filter",
  version: "0.0.1",
  type: "action",
  description: "Compare two values, and go on or end if the condition holds.",
  props: {
    continue: {
      type: "string",
      label: "Continue workflow?",
      description: "Whether the run goes on or ends if the condition holds.",
      options: [
        { label: "Continue", value: "true" },
        { label: "Stop", value: "false" },
      ],
      default: "true",
    },
    inputField: {
      type: "any",
      label: "Value",
      description: "The value that is checked.",
    },
    condition: {
      type: "string",
      label: "Condition",
      description: "The condition that the value is checked for.",
      options: CONDITIONS,
      reloadProps: true,
    },
  },
  additionalProps(this: Props) {
    if (ALONE.includes(this.condition)) return {};
    const description = "The value to compare with.";
    return { valueToCompare: { type: "any", label: "Second value", description } };
  },
  run(this: Props, { $ }: StepArguments) {
    const { condition, inputField, valueToCompare } = this;
    const first = OF_BOOLEANS.includes(condition) ? booleanIn(inputField) : inputField;
    const result = holds({
      condition,
      first,
      second: valueToCompare,
      caseSensitive: true,
    });
    if (result !== booleanIn(this.continue ?? true)) {
      return $.flow.exit("Condition met for exiting workflow");
    }
    $.export("$summary", "The run goes on");
    return result;
  },
};

function booleanIn(value: unknown): boolean {
  const text = String(value).toLowerCase();
  if (text === "true" || text === "false") return text === "true";
  throw configurationError(`\`${value}\` must be true or false`);
}
