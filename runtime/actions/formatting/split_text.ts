/**
 * `formatting-split-text`: one or all of the segments of a text.
 *
 * Not responsible for splitting (`segments.ts`).
 */

import { numberOf, textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { chosen, SEGMENT_OPTIONS, segmentsOf } from "./segments.ts";

interface Props {
  input: unknown;
  separator: unknown;
  segmentIndex: unknown;
}

export default {
  key: "formatting-split-text",
  name: "[Text] Split Text",
  version: "0.0.5",
  type: "action",
  description: "Split a text at a separator and return one segment or all.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The text to split.",
    },
    separator: {
      type: "string",
      label: "Separator",
      description:
        "The text between the segments, or a regular expression whose first " +
        "match is that text: `/[,;]/`.",
    },
    segmentIndex: {
      type: "integer",
      label: "Segment",
      description:
        "The segment to return: one of the list, or its number, counted from " +
        "0, or from the end if it is negative.",
      options: SEGMENT_OPTIONS,
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const text = textOf("input", this.input);
    const segments = segmentsOf(text, textOf("separator", this.separator));
    const index = numberOf("segmentIndex", this.segmentIndex);
    if (segments.length < 2) {
      $.export("$summary", "The separator is not in the text, which stays as it is");
      return text;
    }
    $.export("$summary", `Split the text into ${segments.length} segments`);
    return chosen(segments, index);
  },
};
