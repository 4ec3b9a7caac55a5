/**
 * `delay-workflow-delay`: the next step begins later.
 *
 * Not responsible for the bounds of a delay, which are the platform's.
 */

import { configurationError } from "../configuration_error.ts";
import { numberOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

const MILLISECONDS: Record<string, number> = {
  Milliseconds: 1,
  Seconds: 1000,
  Minutes: 60_000,
  Hours: 3_600_000,
};
const UNITS = Object.keys(MILLISECONDS);

interface Props {
  delayDurationValue: unknown;
  delayDurationUnit: string;
}

export default {
  key: "delay-workflow-delay",
  name: "Delay Workflow",
  version: "0.0.1",
  type: "action",
  description: "Wait before the next step begins. Waiting takes no compute time.",
  props: {
    delayDurationValue: {
      type: "integer",
      label: "Length of the delay",
      description: "The number of units to wait.",
    },
    delayDurationUnit: {
      type: "string",
      label: "Unit of the delay",
      description: "The unit that the length is counted in.",
      options: UNITS,
    },
  },
  async run(this: Props, { $ }: StepArguments) {
    const length = numberOf("delayDurationValue", this.delayDurationValue);
    const unit = Object.hasOwn(MILLISECONDS, this.delayDurationUnit)
      ? MILLISECONDS[this.delayDurationUnit]
      : undefined;
    if (unit === undefined) {
      throw configurationError(
        `\`delayDurationUnit\` must be one of ${UNITS.join(", ")}, ` +
          `not \`${this.delayDurationUnit}\``,
      );
    }
    const urls = await $.flow.delay(length * unit);
    $.export("$summary", `The next step waits ${length} ${this.delayDurationUnit}`);
    return urls;
  },
};
