/**
 * `formatting-add-subtract-time`: a date that is earlier or later by a duration.
 *
 * Not responsible for reading and writing either (`dates.ts`, `durations.ts`).
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { INPUT_DATE, INPUT_FORMAT, OUTPUT_FORMAT } from "./date_props.ts";
import { dateAs, dateIn } from "./dates.ts";
import { millisecondsOf } from "./durations.ts";

interface Props {
  inputDate: unknown;
  inputFormat?: string;
  operation: string;
  duration: unknown;
  outputFormat?: string;
}

export default {
  key: "formatting-add-subtract-time",
  name: "[Date/Time] Add/Subtract Time",
  version: "0.0.5",
  type: "action",
  description: "Add a duration to a date, or subtract it.",
  props: {
    inputDate: INPUT_DATE,
    inputFormat: INPUT_FORMAT,
    operation: {
      type: "string",
      label: "Operation",
      description: "Whether the duration is added or subtracted.",
      options: ["Add", "Subtract"],
    },
    duration: {
      type: "string",
      label: "Duration",
      description: "The duration, with the units s, m, h, d, w and y: `1d 12h`.",
    },
    outputFormat: {
      ...OUTPUT_FORMAT,
      description: `${OUTPUT_FORMAT.description} The input's, if there is none.`,
      optional: true,
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const date = dateIn("inputDate", this.inputDate, this.inputFormat);
    const isSubtracted = this.operation === "Subtract";
    const duration = millisecondsOf(textOf("duration", this.duration));
    const result = new Date(date.getTime() + (isSubtracted ? -duration : duration));
    const output = dateAs(result, this.outputFormat ?? this.inputFormat);
    $.export("$summary", `${isSubtracted ? "Subtracted" : "Added"} ${this.duration}`);
    return output;
  },
};
