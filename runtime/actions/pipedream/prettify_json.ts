/**
 * `pipedream_utils-prettify-json`: a value as JSON text for people.
 *
 * Exported under the name of the first release, and returned.
 */

import type { StepArguments } from "../step.ts";

const INDENT = 2;

export default {
  key: "pipedream_utils-prettify-json",
  name: "Pretty Print JSON",
  version: "0.0.1",
  type: "action",
  description: "Write a value as JSON text with line breaks.",
  props: {
    // As text, an object would be written twice.
    val: { type: "any", label: "Value", description: "The value to write." },
  },
  run(this: { val: unknown }, { $ }: StepArguments) {
    const text = JSON.stringify(this.val, null, INDENT);
    $.export("prettifiedValue", { val: text });
    return text;
  },
};
