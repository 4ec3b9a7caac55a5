/**
 * `filter-continue-based-on-condition`: the run goes on only if a condition holds.
 *
 * Not responsible for the conditions (`conditions.ts`).
 */

import type { StepArguments } from "../step.ts";
import {
  addedProps,
  comparisonOf,
  conditionProps,
  type ConditionValues,
} from "./condition_props.ts";
import { holds } from "./conditions.ts";

export default {
  key: "filter-continue-based-on-condition",
  name: "Continue execution if a condition is met",
  version: "0.0.2",
  type: "action",
  description: "Go on with the workflow only if a condition holds; otherwise end it.",
  props: conditionProps(),
  additionalProps(this: ConditionValues) {
    return addedProps(this);
  },
  run(this: ConditionValues, { $ }: StepArguments) {
    if (!holds(comparisonOf(this))) return $.flow.exit(this.messageOnEnd);
    return this.messageOnContinue;
  },
};
