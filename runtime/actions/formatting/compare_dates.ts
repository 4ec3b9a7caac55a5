/**
 * `formatting-compare-dates`: the time between two dates, in words.
 *
 * Not responsible for the words (`durations.ts`).
 */

import type { StepArguments } from "../step.ts";
import { INPUT_DATE, INPUT_FORMAT } from "./date_props.ts";
import { dateIn } from "./dates.ts";
import { inWords } from "./durations.ts";

interface Props {
  inputDate: unknown;
  inputFormat?: string;
  endDate: unknown;
}

export default {
  key: "formatting-compare-dates",
  name: "[Date/Time] Compare Dates",
  version: "0.0.5",
  type: "action",
  description: "Get the time between two dates, and whether they are the same.",
  props: {
    inputDate: {
      ...INPUT_DATE,
      label: "Start date",
      description: "The first date, in the input format. If it is the later one, the " +
        "dates are swapped, which the result tells.",
    },
    inputFormat: INPUT_FORMAT,
    endDate: {
      ...INPUT_DATE,
      label: "End date",
      description: "The second date, in the same format.",
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const start = dateIn("inputDate", this.inputDate, this.inputFormat).getTime();
    const end = dateIn("endDate", this.endDate, this.inputFormat).getTime();
    $.export("$summary", "Compared the dates");
    return { datesSwapped: start > end, result: inWords(Math.abs(end - start)) };
  },
};
