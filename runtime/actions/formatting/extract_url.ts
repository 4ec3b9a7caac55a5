/**
 * `formatting-extract-url`: the first URL in a text.
 *
 * Not responsible for checking it: it ends at the next white space.
 */

import type { StepArguments } from "../step.ts";
import { extract } from "./matches.ts";

const PATTERN = /https?:\/\/\S+\.\S+/;

export default {
  key: "formatting-extract-url",
  name: "[Text] Extract URL",
  version: "0.0.5",
  type: "action",
  description: "Find the first URL in a text.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to search.",
    },
  },
  run(this: { input: unknown }, step: StepArguments) {
    return extract(this.input, step, "URL", PATTERN);
  },
};
