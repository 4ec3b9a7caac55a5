/**
 * The `$` of a workflow's step.
 *
 * Responsible for the object's shape only; its parts check their arguments. Not
 * responsible for an action that is run alone (`action_alone.ts`).
 */

import { createFiles } from "./files.ts";
import { createFlow } from "./flow.ts";
import type { Invocation } from "./invocation.ts";
import { createSends } from "./sends.ts";
import type { StepEffects } from "./step_effects.ts";
import { respondInStep } from "./step_response.ts";
import type { StepInput } from "./workflow_input.ts";

export function createInterface(
  invocation: Invocation,
  step: StepEffects,
  input: StepInput,
): Record<string, unknown> {
  const $: Record<string, unknown> = {
    export: (name: unknown, value: unknown) => invocation.export(name, value),
    respond: (response: unknown) => respondInStep(invocation, step, response),
    flow: createFlow(invocation, step, input),
    send: createSends(step),
    files: createFiles(step),
    context: input.context,
  };
  const resumed = resumeData(input.context);
  if (resumed !== undefined) $.$resume_data = resumed;
  if (input.attempt) $.$attempt = input.attempt;
  return $;
}

/** The request that resumed this step, where some published actions look for it. */
function resumeData({ run }: StepInput["context"]): unknown {
  const { callback_request } = Object(run ?? {});
  return callback_request;
}
