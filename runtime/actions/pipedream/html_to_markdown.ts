/**
 * `pipedream_utils-html-to-markdown`: HTML as Markdown in a style of choice.
 *
 * Not responsible for the conversion, which is the library's.
 */

import TurndownService from "npm:turndown@7.2.0";
import { textOf } from "../inputs.ts";

const choice = (label: string, options: string[]) => ({
  type: "string",
  label,
  description: `The Markdown for it: ${
    options.map((option) => `\`${option}\``).join(", ")
  }.`,
  optional: true,
  options,
});

const STYLE = {
  headingStyle: choice("Heading style", ["setext", "atx"]),
  hr: choice("Horizontal rule", ["***", "===", "---"]),
  bulletListMarker: choice("Bullet of lists", ["-", "+", "*"]),
  codeBlockStyle: choice("Code block style", ["indented", "fenced"]),
  fence: choice("Fence of code blocks", ["```", "~~~"]),
  emDelimiter: choice("Emphasis", ["_", "*"]),
  strongDelimiter: choice("Strong emphasis", ["**", "__"]),
  linkStyle: choice("Link style", ["inlined", "referenced"]),
  linkReferenceStyle: choice("Link reference style", ["full", "collapsed", "shortcut"]),
};

type Props = { input: unknown } & { [name in keyof typeof STYLE]?: string };

export default {
  key: "pipedream_utils-html-to-markdown",
  name: "HTML to Markdown",
  version: "0.0.1",
  type: "action",
  description: "Write HTML as Markdown in the style of your choice.",
  props: {
    input: { type: "string", label: "HTML", description: "The HTML." },
    ...STYLE,
  },
  run(this: Props) {
    const names = Object.keys(STYLE) as (keyof typeof STYLE)[];
    // A choice without a value would not be the library's default but `undefined`.
    const chosen = names.filter((name) => this[name]).map((name) => [name, this[name]]);
    const service = new TurndownService(Object.fromEntries(chosen));
    return service.turndown(textOf("input", this.input));
  },
};
