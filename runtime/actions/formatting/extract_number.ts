/**
 * `formatting-extract-number`: the first number in a text.
 *
 * The number stays text, with its marks.
 */

import type { StepArguments } from "../step.ts";
import { extract } from "./matches.ts";

const PATTERN = /\d[\d.,]*/;

export default {
  key: "formatting-extract-number",
  name: "[Text] Extract Number",
  version: "0.0.5",
  type: "action",
  description: "Find the first number in a text.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to search.",
    },
  },
  run(this: { input: unknown }, step: StepArguments) {
    return extract(this.input, step, "number", PATTERN);
  },
};
