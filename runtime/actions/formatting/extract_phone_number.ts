/**
 * `formatting-extract-phone-number`: the first phone number in a text.
 *
 * Not responsible for formats that are not entered.
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { extract } from "./matches.ts";
import { compiled } from "./patterns.ts";

const NORTH_AMERICAN = "((\\([0-9]{3}\\) ?)|[0-9]{3}-)[0-9]{3}-[0-9]{4}";
const INTERNATIONAL = "\\([0-9]{2}\\) ?([0-9]{2}-){3}[0-9]{2}";

interface Props {
  input: unknown;
  format: unknown;
}

export default {
  key: "formatting-extract-phone-number",
  name: "[Text] Extract Phone Number",
  version: "0.0.5",
  type: "action",
  description: "Find the first phone number in a text.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to search.",
    },
    format: {
      type: "string",
      label: "Format",
      description:
        "The format of the number: one of the list, or a regular expression " +
        "without slashes.",
      options: [
        {
          label: "North American, such as `(123) 456-7890` or `123-456-7890`",
          value: NORTH_AMERICAN,
        },
        { label: "International, such as `(12) 34-56-78-90`", value: INTERNATIONAL },
      ],
    },
  },
  run(this: Props, step: StepArguments) {
    const pattern = compiled(textOf("format", this.format));
    return extract(this.input, step, "phone number", pattern);
  },
};
