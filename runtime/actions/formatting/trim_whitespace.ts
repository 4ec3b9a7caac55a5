/**
 * `formatting-trim-whitespace`: a text without white space at its ends.
 *
 * Leaves white space inside as it is.
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

export default {
  key: "formatting-trim-whitespace",
  name: "[Text] Trim Whitespace",
  version: "0.0.5",
  type: "action",
  description: "Remove the white space at both ends of a text.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to trim.",
    },
  },
  run(this: { input: unknown }, { $ }: StepArguments) {
    const trimmed = textOf("input", this.input).trim();
    $.export("$summary", "Trimmed the text");
    return trimmed;
  },
};
