/**
 * `pipedream_utils-trigger-workflow`: a run of another workflow.
 *
 * Not responsible for what the result of the other run is.
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

interface Props {
  workflowId: unknown;
  event?: unknown;
}

export default {
  key: "pipedream_utils-trigger-workflow",
  name: "Trigger Workflow",
  version: "0.0.1",
  type: "action",
  description: "Start another workflow of your workspace.",
  props: {
    workflowId: {
      type: "string",
      label: "Workflow",
      description: "The workflow by its id, `p_…`.",
    },
    event: {
      type: "object",
      label: "Event",
      description: "The event of the other run: its `steps.trigger.event`.",
      optional: true,
    },
  },
  async run(this: Props, { $ }: StepArguments) {
    const workflow = textOf("workflowId", this.workflowId);
    const result = await $.flow.trigger(workflow, this.event ?? {});
    $.export("$summary", `Triggered the workflow ${workflow}`);
    return result;
  },
};
