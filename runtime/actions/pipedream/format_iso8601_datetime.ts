/**
 * `pipedream_utils-format-iso8601-datetime`: a time in formats that spreadsheets know.
 *
 * In UTC. Not for other time zones.
 */

import { textOf } from "../inputs.ts";
import { momentOf } from "./moments.ts";

export default {
  key: "pipedream_utils-format-iso8601-datetime",
  name: "Format ISO8601 Date/Time for Google Sheets",
  version: "0.0.1",
  type: "action",
  description:
    "Write a time as date and time, as date and as time, in forms that Google " +
    "Sheets understands.",
  props: {
    iso8601: {
      type: "string",
      label: "ISO 8601 time",
      description: "The time, for example `2026-01-31T12:00:00Z`.",
    },
  },
  run(this: { iso8601: unknown }) {
    const moment = momentOf("iso8601", textOf("iso8601", this.iso8601));
    const iso = new Date(moment).toISOString();
    const [year, month, day] = iso.slice(0, 10).split("-");
    const date = `${month}/${day}/${year}`;
    const hour = Number(iso.slice(11, 13));
    const time = `${hour % 12 || 12}${iso.slice(13, 19)} ${hour < 12 ? "am" : "pm"}`;
    return { date_time: `${date} ${time}`, date, time };
  },
};
