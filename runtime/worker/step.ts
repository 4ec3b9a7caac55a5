/**
 * One run of a workflow's step: its guard, its props, its code.
 *
 * A component's `run` is called as an action's, whatever type it names, because the code
 * of a step names none. Not responsible for the effects of the code (`step_effects.ts`).
 */

import { isFunction, isObject } from "./component.ts";
import { holds } from "./conditions.ts";
import { inPlace } from "./failure.ts";
import { ownFields } from "./intrinsics.ts";
import type { Invocation } from "./invocation.ts";
import { toJson } from "./json.ts";
import { withLazyValues } from "./lazy_steps.ts";
import type { Code } from "./loaded_component.ts";
import type { PropValues } from "./protocol.ts";
import { createInterface } from "./step_interface.ts";
import { withoutStreams } from "./stream_shapes.ts";
import type { StepInput } from "./workflow_input.ts";

/**
 * The step's return value as JSON; undefined when its guard does not hold.
 * @param given are the props that the host provides
 */
export async function runStep(
  code: Code,
  invocation: Invocation,
  given: PropValues,
  event: unknown,
): Promise<string | undefined> {
  const { step } = invocation;
  const { run } = code.component;
  if (step === undefined || !isFunction(run)) {
    throw new TypeError("the step has no run method");
  }
  const input = ownFields<StepInput>(event);
  const steps = withLazyValues(input.steps, input.lazy);
  const guard = input.if ?? undefined;
  if (guard !== undefined && !await inPlace("if", () => holds(guard, steps))) {
    step.skip();
    return undefined;
  }
  const templates = isObject(input.props) ? input.props : {};
  const values = await code.stepProps.values(templates, given, steps);
  const instance = code.instances.create(invocation, given, values);
  const $ = createInterface(invocation, step, input);
  const value = await run.call(instance, { steps, $ });
  return withoutStreams(toJson(value, "the return value"));
}
