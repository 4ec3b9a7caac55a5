/**
 * `formatting-url-decode`: a text out of percent encoding.
 *
 * Knows nothing of the parts of a URL: `+` stays.
 */

import { configurationError } from "../configuration_error.ts";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

export default {
  key: "formatting-url-decode",
  name: "[Text] Decode URL",
  version: "0.0.5",
  type: "action",
  description: "Decode a text with percent encoding.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to decode, for example `a%20b`.",
    },
  },
  run(this: { input: unknown }, { $ }: StepArguments) {
    const decoded = decode(textOf("input", this.input));
    $.export("$summary", "Decoded the text");
    return decoded;
  },
};

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw configurationError(`\`${text}\` has a % that encodes nothing`);
  }
}
