/**
 * `pipedream_utils-send-to-s3`: a value for a bucket of Amazon S3.
 *
 * Not responsible for sending, which happens once the step is committed.
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

interface Props {
  bucket: unknown;
  prefix?: unknown;
  payload: unknown;
}

export default {
  key: "pipedream_utils-send-to-s3",
  name: "Send to Amazon S3",
  version: "0.0.1",
  type: "action",
  description: "Send a value to a bucket of Amazon S3.",
  props: {
    bucket: {
      type: "string",
      label: "Bucket",
      description: "The name of the bucket.",
    },
    prefix: {
      type: "string",
      label: "Prefix",
      description:
        "The beginning of the object's key; with a slash at its end it is like " +
        "a folder.",
      optional: true,
    },
    payload: {
      type: "object",
      label: "Payload",
      description: "The value to send.",
    },
  },
  run(this: Props, { $ }: StepArguments) {
    $.send.s3({
      bucket: textOf("bucket", this.bucket),
      prefix: textOf("prefix", this.prefix ?? ""),
      payload: this.payload,
    });
  },
};
