/**
 * `filter-end-workflow-custom-condition`: the run ends if an expression is true.
 *
 * Not responsible for the expression, which the platform evaluates.
 */

import type { StepArguments } from "../step.ts";

interface Props {
  reason?: string;
  condition?: unknown;
}

export default {
  key: "filter-end-workflow-custom-condition",
  name: "End Workflow on Custom Condition",
  version: "0.0.1",
  type: "action",
  description: "End the workflow if an expression is true.",
  props: {
    reason: {
      type: "string",
      label: "Reason",
      description: "The reason that a run which ends here shows.",
      optional: true,
    },
    condition: {
      type: "boolean",
      label: "Condition",
      description: "An expression, for example `{{ 2 * 2 === 4 }}`.",
      default: true,
      optional: true,
    },
  },
  run(this: Props, { $ }: StepArguments) {
    if (!this.condition) {
      $.export("$summary", "The condition is false; the run goes on");
      return;
    }
    const reason = this.reason ? `: ${this.reason}` : "";
    $.export("$summary", `The condition is true; the run ends${reason}`);
    return $.flow.exit(this.reason);
  },
};
