/**
 * `formatting-convert-html-to-markdown`: HTML as Markdown.
 *
 * The result is that of the library which stored workflows were written with. Not for
 * choosing the Markdown's style; `pipedream_utils-html-to-markdown` does.
 */

import { DOMParser } from "npm:linkedom@0.14.26";
import showdown from "npm:showdown@2.1.0";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

export default {
  key: "formatting-convert-html-to-markdown",
  name: "[Text] Convert HTML to Markdown",
  version: "0.0.6",
  type: "action",
  description: "Write HTML as Markdown.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The HTML.",
    },
  },
  run(this: { input: unknown }, { $ }: StepArguments) {
    const document = new DOMParser().parseFromString("<html></html>", "text/html");
    const html = textOf("input", this.input);
    const markdown = new showdown.Converter().makeMarkdown(html, document);
    $.export("$summary", "Converted the HTML to Markdown");
    return markdown;
  },
};
