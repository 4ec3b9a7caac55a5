/**
 * `formatting-set-default-value`: a value, or another one if it is empty.
 *
 * Not responsible for text of nothing but white space, which is a value.
 */

import type { StepArguments } from "../step.ts";

interface Props {
  input?: unknown;
  defaultValue: unknown;
}

export default {
  key: "formatting-set-default-value",
  name: "[Text] Set Default Value",
  version: "0.0.5",
  type: "action",
  description: "Return a default value if the input is empty.",
  props: {
    input: {
      // As text, an expression's nothing would be something.
      type: "any",
      label: "Input",
      description: "The value that may be empty, as a rule of an earlier step.",
      optional: true,
    },
    defaultValue: {
      type: "any",
      label: "Default value",
      description: "The value to return if the input is empty.",
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const { input, defaultValue } = this;
    $.export(
      "$summary",
      input
        ? "The input is not empty"
        : "The input is empty; returned the default value",
    );
    return input || defaultValue;
  },
};
