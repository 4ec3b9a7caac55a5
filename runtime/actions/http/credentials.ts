/**
 * Credentials of incoming requests: comparing them, and refusing a request.
 *
 * Not responsible for where they are in the request.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { configurationError } from "../configuration_error.ts";
import type { StepArguments } from "../step.ts";

const REFUSAL = "Invalid credentials";

export const CUSTOM_RESPONSE = {
  type: "boolean",
  label: "Answer with an error",
  description: "Whether a refused request is answered with the status 401. The HTTP " +
    "trigger has to leave the response to the workflow.",
  default: true,
};

/** The configured secret. An empty one would let everybody in. */
export function secretOf(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw configurationError(
    `\`${name}\` is empty: enter it, or check the variable that it comes from`,
  );
}

/** Compares without telling by its duration how much is equal. */
export function equal(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Ends the run, with a response if one is wanted. */
export async function refuse(
  { $ }: StepArguments,
  responds: boolean | undefined,
): Promise<unknown> {
  if (responds ?? CUSTOM_RESPONSE.default) {
    await $.respond({ status: 401, headers: {}, body: REFUSAL });
  }
  return $.flow.exit(REFUSAL);
}
