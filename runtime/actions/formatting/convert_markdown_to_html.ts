/**
 * `formatting-convert-markdown-to-html`: Markdown as HTML.
 *
 * Removes no scripts: the HTML is as safe as the Markdown is.
 */

import showdown from "npm:showdown@2.1.0";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

export default {
  key: "formatting-convert-markdown-to-html",
  name: "[Text] Convert Markdown to HTML",
  version: "0.0.6",
  type: "action",
  description: "Write Markdown as HTML.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The Markdown.",
    },
  },
  run(this: { input: unknown }, { $ }: StepArguments) {
    const html = new showdown.Converter().makeHtml(textOf("input", this.input));
    $.export("$summary", "Converted the Markdown to HTML");
    return html;
  },
};
