/**
 * `formatting-convert-html-to-text`: the text of HTML.
 *
 * Lines break after 80 characters, as in stored workflows. Not for Markdown.
 */

import { convert } from "npm:html-to-text@8.2.1";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

export default {
  key: "formatting-convert-html-to-text",
  name: "[Text] Convert HTML to text",
  version: "0.0.4",
  type: "action",
  description: "Write HTML as plain text.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The HTML.",
    },
  },
  run(this: { input: unknown }, { $ }: StepArguments) {
    const text = convert(textOf("input", this.input));
    $.export("$summary", "Converted the HTML to text");
    return text;
  },
};
