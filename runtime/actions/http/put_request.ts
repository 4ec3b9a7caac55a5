/**
 * `http-put-request`: a PUT request.
 *
 * Not responsible for sending (`request.ts`).
 */

import type { StepArguments } from "../step.ts";
import { requestProps, type RequestValues, sendRequest } from "./request.ts";

export default {
  key: "http-put-request",
  name: "Send PUT Request",
  version: "1.1.1",
  type: "action",
  description: "Send an HTTP PUT request to any URL.",
  props: requestProps("PUT"),
  async run(this: RequestValues, step: StepArguments) {
    return await sendRequest(this, step, "PUT");
  },
};
