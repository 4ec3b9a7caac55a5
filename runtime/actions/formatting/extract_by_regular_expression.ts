/**
 * `formatting-extract-by-regular-expression`: every match of an expression in a text.
 *
 * Not responsible for groups within a match.
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { matchesIn } from "./matches.ts";

interface Props {
  input: unknown;
  regExpString: unknown;
}

export default {
  key: "formatting-extract-by-regular-expression",
  name: "[Text] Extract by Regular Expression",
  version: "0.0.5",
  type: "action",
  description: "Find every match of a regular expression, with its positions.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to search.",
    },
    regExpString: {
      type: "string",
      label: "Regular expression",
      description: "The expression, with or without slashes: `/a+/i` or `a+`.",
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const pattern = textOf("regExpString", this.regExpString);
    const matches = matchesIn(textOf("input", this.input), pattern);
    $.export(
      "$summary",
      matches.length > 0 ? `Found ${matches.length} matches` : "Found no match",
    );
    return matches;
  },
};
