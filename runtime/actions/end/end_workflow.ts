/**
 * `end-end-workflow`: the run ends here, successfully.
 *
 * Not responsible for a condition; the `filter` actions have one.
 */

import type { StepArguments } from "../step.ts";

export default {
  key: "end-end-workflow",
  name: "End Workflow",
  version: "0.0.3",
  type: "action",
  description: "End the run; no further step begins.",
  props: {
    reason: {
      type: "string",
      label: "Reason",
      description: "The reason that the run shows.",
      optional: true,
    },
  },
  run(this: { reason?: string }, { $ }: StepArguments) {
    return $.flow.exit(this.reason);
  },
};
