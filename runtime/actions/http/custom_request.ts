/**
 * `http-custom-request`: a request of any method.
 *
 * Not responsible for sending (`request.ts`).
 */

import type { StepArguments } from "../step.ts";
import { requestProps, type RequestValues, sendRequest } from "./request.ts";

export default {
  key: "http-custom-request",
  name: "Send any HTTP Request",
  version: "1.1.1",
  type: "action",
  description: "Send an HTTP request of any method to any URL.",
  props: requestProps(),
  async run(this: RequestValues, step: StepArguments) {
    return await sendRequest(this, step);
  },
};
