/**
 * `pipedream_utils-xml-to-json`: XML as an object, in one of two shapes.
 *
 * Not responsible for the shapes, which are the library's.
 */

import xml from "npm:xml-js@1.6.11";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

interface Props {
  input: unknown;
  compact?: boolean;
}

export default {
  key: "pipedream_utils-xml-to-json",
  name: "XML to JSON",
  version: "0.0.1",
  type: "action",
  description: "Read XML into an object.",
  props: {
    input: { type: "string", label: "XML", description: "The XML." },
    compact: {
      type: "boolean",
      label: "Compact",
      description:
        "Whether elements are properties by their names, without their order.",
      optional: true,
      default: true,
    },
    spaces: {
      type: "integer",
      label: "Spaces",
      description: "Without effect: the result is an object, not text.",
      optional: true,
      default: 2,
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const value = xml.xml2js(textOf("input", this.input), {
      compact: this.compact ?? true,
    });
    $.export("$summary", "Read the XML");
    return value;
  },
};
