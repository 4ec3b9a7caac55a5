/**
 * `pipedream_utils-base64-decode-string`: the text that a base64 text encodes.
 *
 * Not for data that is not text.
 */

import { Buffer } from "node:buffer";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

export default {
  key: "pipedream_utils-base64-decode-string",
  name: "Base64 Decode String",
  version: "0.0.1",
  type: "action",
  description: "Decode base64 into text and export it as `data`.",
  props: {
    data: { type: "string", label: "Data", description: "The base64 text." },
  },
  run(this: { data: unknown }, { $ }: StepArguments) {
    const bytes = Buffer.from(textOf("data", this.data), "base64");
    $.export("data", bytes.toString("utf8"));
  },
};
