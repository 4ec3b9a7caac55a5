/**
 * `formatting-transform-case`: a text in capital letters, small ones and the like.
 *
 * Not responsible for the operations (`letter_case.ts`).
 */

import { configurationError } from "../configuration_error.ts";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { OPERATIONS } from "./letter_case.ts";

interface Props {
  input: unknown;
  operation: string;
}

export default {
  key: "formatting-transform-case",
  name: "[Text] Transform Case",
  version: "0.0.5",
  type: "action",
  description: "Change capital and small letters of a text, or form a plural.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to change.",
    },
    operation: {
      type: "string",
      label: "Operation",
      description: "The kind of change.",
      options: Object.entries(OPERATIONS).map(([value, { label }]) => ({
        label,
        value,
      })),
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const operation = Object.hasOwn(OPERATIONS, this.operation)
      ? OPERATIONS[this.operation]
      : undefined;
    if (operation === undefined) {
      const known = Object.keys(OPERATIONS).join(", ");
      throw configurationError(
        `\`operation\` must be one of ${known}, not \`${this.operation}\``,
      );
    }
    const changed = operation.apply(textOf("input", this.input));
    $.export("$summary", "Changed the case of the text");
    return changed;
  },
};
