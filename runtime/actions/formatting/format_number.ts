/**
 * `formatting-format-number`: a number with other marks.
 *
 * Not responsible for reading and writing digits (`digits.ts`).
 */

import { configurationError } from "../configuration_error.ts";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { digitsOf, written } from "./digits.ts";

interface Props {
  input: unknown;
  inputDecimalMark?: string;
  toFormat: unknown;
}

export default {
  key: "formatting-format-number",
  name: "[Numbers] Format Number",
  version: "0.0.5",
  type: "action",
  description: "Write a number in another style, without rounding or padding it.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The number.",
    },
    inputDecimalMark: {
      type: "string",
      label: "Decimal mark of the input",
      description:
        "The mark before the input's decimals: a period, if nothing is chosen.",
      options: [
        { label: "comma", value: "," },
        { label: "period", value: "." },
      ],
      optional: true,
    },
    toFormat: {
      type: "string",
      label: "Output format",
      description:
        "The mark between groups of digits, and the one before the decimals.",
      options: [
        { label: "1,234.5", value: ",." },
        { label: "1.234,5", value: ".," },
        { label: "1 234.5", value: " ." },
        { label: "1 234,5", value: " ," },
      ],
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const digits = digitsOf(textOf("input", this.input), this.inputDecimalMark || ".");
    const [group, decimal, ...others] = textOf("toFormat", this.toFormat);
    if (group === undefined || decimal === undefined || others.length > 0) {
      throw configurationError("`toFormat` must be two marks, for example `,.`");
    }
    const text = written(digits, { group, decimal });
    $.export("$summary", "Formatted the number");
    return text;
  },
};
