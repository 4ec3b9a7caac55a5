/**
 * `http-get-request`: a GET request.
 *
 * Not responsible for sending (`request.ts`).
 */

import type { StepArguments } from "../step.ts";
import { requestProps, type RequestValues, sendRequest } from "./request.ts";

export default {
  key: "http-get-request",
  name: "Send GET Request",
  version: "1.1.1",
  type: "action",
  description: "Send an HTTP GET request to any URL.",
  props: requestProps("GET"),
  async run(this: RequestValues, step: StepArguments) {
    return await sendRequest(this, step, "GET");
  },
};
