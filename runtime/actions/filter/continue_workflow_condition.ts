/**
 * `filter-continue-workflow-condition`, the former action of the same meaning as
 * `filter-continue-based-on-condition`.
 *
 * Not offered for new steps; kept so that stored ones run.
 */

import type { StepArguments } from "../step.ts";
import {
  endOrContinue,
  OPERAND_PROPS,
  operandProps,
  operandsHold,
  type OperandValues,
} from "./operand_props.ts";

export default {
  key: "filter-continue-workflow-condition",
  name: "Continue Workflow on Condition",
  version: "0.0.2",
  type: "action",
  description: "Go on with the workflow only if a comparison of two values holds.",
  props: OPERAND_PROPS,
  additionalProps(this: OperandValues) {
    return operandProps(this);
  },
  run(this: OperandValues, step: StepArguments) {
    return endOrContinue(this, step, !operandsHold(this));
  },
};
