/**
 * `formatting-replace-text`: every instance of a text or pattern, replaced.
 *
 * Not responsible for replacing (`replacement.ts`).
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { replaceAll } from "./replacement.ts";

interface Props {
  input: unknown;
  findText: unknown;
  replaceText?: unknown;
}

export default {
  key: "formatting-replace-text",
  name: "[Text] Replace Text",
  version: "0.0.5",
  type: "action",
  description: "Replace every instance of a text or pattern by another text.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to replace in.",
    },
    findText: {
      type: "string",
      label: "Text or pattern",
      description: "The text to replace, or a regular expression: `/a+/i`.",
    },
    replaceText: {
      type: "string",
      label: "Replacement",
      description:
        "The text that takes its place; without it, the found text is removed.",
      optional: true,
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const { text, count } = replaceAll(
      textOf("input", this.input),
      textOf("findText", this.findText),
      textOf("replaceText", this.replaceText ?? ""),
    );
    $.export(
      "$summary",
      count > 0 ? `Replaced ${count} instances` : "Replaced nothing",
    );
    return text;
  },
};
