/**
 * `formatting-url-encode`: a text in percent encoding.
 *
 * Knows nothing of the parts of a URL: `/` and `?` are encoded too.
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

export default {
  key: "formatting-url-encode",
  name: "[Text] Encode URL",
  version: "0.0.5",
  type: "action",
  description: "Encode a text for use in a URL.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to encode.",
    },
  },
  run(this: { input: unknown }, { $ }: StepArguments) {
    const encoded = encodeURIComponent(textOf("input", this.input));
    $.export("$summary", "Encoded the text");
    return encoded;
  },
};
