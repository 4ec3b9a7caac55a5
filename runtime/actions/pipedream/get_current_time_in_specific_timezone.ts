/**
 * `pipedream_utils-get-current-time-in-specific-timezone`: the present time in a zone.
 *
 * The time of the step, not that of the trigger.
 */

import { textOf } from "../inputs.ts";
import { checkZone, timeInZone } from "./moments.ts";

export default {
  key: "pipedream_utils-get-current-time-in-specific-timezone",
  name: "Get Current Time in Timezone",
  version: "0.0.1",
  type: "action",
  description: "Get the present time in a time zone.",
  props: {
    timezone: {
      type: "string",
      label: "Time zone",
      description: "The zone by its IANA name, for example `America/Los_Angeles`.",
    },
  },
  run(this: { timezone: unknown }) {
    const zone = checkZone("timezone", textOf("timezone", this.timezone));
    return timeInZone(Date.now(), zone);
  },
};
