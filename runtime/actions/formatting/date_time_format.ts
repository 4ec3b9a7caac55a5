/**
 * `formatting-date-time-format`: a date in another format.
 *
 * Not responsible for the formats (`dates.ts`).
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { INPUT_DATE, INPUT_FORMAT, OUTPUT_FORMAT } from "./date_props.ts";
import { dateAs, dateIn } from "./dates.ts";

interface Props {
  inputDate: unknown;
  inputFormat?: string;
  outputFormat: unknown;
}

export default {
  key: "formatting-date-time-format",
  name: "[Date/Time] Format",
  version: "0.0.6",
  type: "action",
  description: "Write a date in another format.",
  props: {
    inputDate: INPUT_DATE,
    inputFormat: INPUT_FORMAT,
    outputFormat: OUTPUT_FORMAT,
  },
  run(this: Props, { $ }: StepArguments) {
    const date = dateIn("inputDate", this.inputDate, this.inputFormat);
    const output = dateAs(date, textOf("outputFormat", this.outputFormat));
    $.export("$summary", "Formatted the date");
    return output;
  },
};
