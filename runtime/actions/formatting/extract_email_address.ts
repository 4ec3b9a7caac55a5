/**
 * `formatting-extract-email-address`: the first email address in a text.
 *
 * Not responsible for whether mail arrives there.
 */

import type { StepArguments } from "../step.ts";
import { extract } from "./matches.ts";

const PATTERN = /[\w.!#$%&'*+/=?^`{|}~-]+@(?:[\w-]+\.)+[\w-]{2,}/;

export default {
  key: "formatting-extract-email-address",
  name: "[Text] Extract Email Address",
  version: "0.0.6",
  type: "action",
  description: "Find the first email address in a text.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to search.",
    },
  },
  run(this: { input: unknown }, step: StepArguments) {
    return extract(this.input, step, "email address", PATTERN);
  },
};
