/**
 * `http-return-http-response`: the response to the request that started the run.
 *
 * Not responsible for when it is sent, which the platform decides.
 */

import { numberOf } from "../inputs.ts";
import type { Response, StepArguments } from "../step.ts";

interface Props {
  resStatusCode?: unknown;
  resHeaders?: Record<string, string>;
  resBody?: unknown;
}

const DEFAULT_STATUS = 200;

export default {
  key: "http-return-http-response",
  name: "Return HTTP Response",
  version: "0.0.3",
  type: "action",
  description:
    "Answer the request of an HTTP trigger that leaves the response to the " +
    "workflow.",
  props: {
    resStatusCode: {
      type: "integer",
      label: "Response status code",
      description: "The status of the response.",
      default: DEFAULT_STATUS,
      min: 100,
      max: 599,
    },
    resHeaders: {
      type: "object",
      label: "Response headers",
      description: "The headers of the response.",
      optional: true,
    },
    resBody: {
      type: "any",
      label: "Response body",
      description: "The body of the response.",
      optional: true,
      default: '{ "success": true }',
    },
  },
  async run(this: Props, { $ }: StepArguments) {
    const status = numberOf("resStatusCode", this.resStatusCode ?? DEFAULT_STATUS);
    const response: Response = { status, body: this.resBody };
    if (this.resHeaders) response.headers = this.resHeaders;
    await $.respond(response);
    $.export("$summary", `Responded with status ${status}`);
  },
};
