/**
 * `pipedream_utils-get-time-in-specific-timezone`: a time in a zone.
 *
 * Not responsible for reading times (`moments.ts`).
 */

import { textOf } from "../inputs.ts";
import { checkZone, momentOf, timeInZone } from "./moments.ts";

interface Props {
  time: unknown;
  timezone: unknown;
}

export default {
  key: "pipedream_utils-get-time-in-specific-timezone",
  name: "Get Time in Timezone",
  version: "0.0.1",
  type: "action",
  description: "Write a time as clocks in a time zone show it.",
  props: {
    time: {
      type: "string",
      label: "ISO 8601 time",
      description:
        "The time, for example `2026-01-31T12:00:00Z`. Without an offset it is " +
        "taken for one of the zone.",
    },
    timezone: {
      type: "string",
      label: "Time zone",
      description: "The zone by its IANA name, for example `America/Los_Angeles`.",
    },
  },
  run(this: Props) {
    const zone = checkZone("timezone", textOf("timezone", this.timezone));
    return timeInZone(momentOf("time", textOf("time", this.time), zone), zone);
  },
};
