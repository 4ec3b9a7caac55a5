/**
 * `http-post-request`: a POST request.
 *
 * Not responsible for sending (`request.ts`).
 */

import type { StepArguments } from "../step.ts";
import { requestProps, type RequestValues, sendRequest } from "./request.ts";

export default {
  key: "http-post-request",
  name: "Send POST Request",
  version: "1.1.1",
  type: "action",
  description: "Send an HTTP POST request to any URL.",
  props: requestProps("POST"),
  async run(this: RequestValues, step: StepArguments) {
    return await sendRequest(this, step, "POST");
  },
};
