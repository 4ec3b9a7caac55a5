/**
 * `formatting-parse-json`: the value that a JSON text is.
 *
 * Not for JSON with comments or trailing commas.
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

export default {
  key: "formatting-parse-json",
  name: "[Data] Parse JSON",
  version: "0.0.5",
  type: "action",
  description: "Read a JSON text.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The JSON text.",
    },
  },
  run(this: { input: unknown }, { $ }: StepArguments) {
    const value = parse(textOf("input", this.input));
    $.export("$summary", "Read the JSON text");
    return value;
  },
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the input is not JSON: ${(error as Error).message}`);
  }
}
