/**
 * `formatting-convert-json-to-string`: an object as JSON text.
 *
 * Without line breaks; `pipedream_utils-prettify-json` has them.
 */

import type { StepArguments } from "../step.ts";

export default {
  key: "formatting-convert-json-to-string",
  name: "[Data] Convert JSON to String",
  version: "0.0.5",
  type: "action",
  description: "Write an object as JSON text.",
  props: {
    input: {
      type: "object",
      label: "Input",
      description: "The object to write.",
    },
  },
  run(this: { input: unknown }, { $ }: StepArguments) {
    const text = JSON.stringify(this.input);
    $.export("$summary", "Wrote the object as JSON text");
    return text;
  },
};
