/**
 * `http-verify-hmac-signature`: only requests whose body is signed with the secret go on.
 *
 * Knows SHA-256 in hexadecimal digits only.
 */

import { createHmac } from "node:crypto";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { CUSTOM_RESPONSE, equal, refuse, secretOf } from "./credentials.ts";

interface Props {
  secret: unknown;
  signature?: unknown;
  bodyRaw: unknown;
  customResponse?: boolean;
}

export default {
  key: "http-verify-hmac-signature",
  name: "Verify HMAC Signature",
  version: "0.0.2",
  type: "action",
  description:
    "Go on only if the request that started the run is signed with a secret.",
  props: {
    secret: {
      type: "string",
      label: "Secret",
      description: "The secret that the sender signs with.",
      secret: true,
    },
    signature: {
      type: "string",
      label: "Signature",
      description:
        "The signature of the request in hexadecimal digits, as one of its " +
        "headers has it.",
    },
    bodyRaw: {
      type: "string",
      label: "Raw body",
      description: "The body of the request as text, exactly as it was sent.",
    },
    customResponse: CUSTOM_RESPONSE,
  },
  async run(this: Props, step: StepArguments) {
    const hmac = createHmac("sha256", secretOf("secret", this.secret));
    const expected = hmac.update(textOf("bodyRaw", this.bodyRaw), "utf8").digest("hex");
    const given = String(this.signature ?? "").toLowerCase();
    if (!equal(given, expected)) return await refuse(step, this.customResponse);
    step.$.export("$summary", "The request is signed with the secret");
  },
};
