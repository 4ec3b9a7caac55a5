/**
 * `pipedream_utils-get-iso-string-n-days-ago`: the present time some days before.
 *
 * Days have 24 hours: the result is in UTC.
 */

import { numberOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

const DAY_MS = 86_400_000;

export default {
  key: "pipedream_utils-get-iso-string-n-days-ago",
  name: "Get ISO String N Days Ago",
  version: "0.0.1",
  type: "action",
  description: "Export, as `date`, the present time some days before, in UTC.",
  props: {
    days: { type: "string", label: "Days", description: "The number of days." },
  },
  run(this: { days: unknown }, { $ }: StepArguments) {
    const days = Math.round(numberOf("days", this.days));
    $.export("date", new Date(Date.now() - days * DAY_MS).toISOString());
  },
};
