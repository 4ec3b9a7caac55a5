/**
 * The `$` of an action's `run`: the interface to its step.
 *
 * Responsible for the object's shape and for checking its arguments. Not
 * responsible for the use of exports, nor for steps of workflows: an action that runs
 * alone has neither a request to respond to nor a workflow to pause.
 */

import { isObject } from "./component.ts";
import type { Invocation } from "./invocation.ts";

/** The host's data about the step, as the invocation's event. */
export interface StepEvent {
  /** Exports and results of earlier steps by name. */
  steps: Record<string, unknown>;
  /** Of the run: its id, time, owner. */
  context: Record<string, unknown>;
}

export interface StepArguments {
  steps: Record<string, unknown>;
  $: Record<string, unknown>;
}

const SENDS = ["http", "email", "s3", "emit", "sse"];

/** The argument of an action's `run`. */
export function stepArguments(event: unknown, invocation: Invocation): StepArguments {
  const { steps = {}, context = {} } = isObject(event) ? event : {};
  return {
    steps: isObject(steps) ? steps : {},
    $: {
      export: (name: unknown, value: unknown) => invocation.export(name, value),
      respond: () => onlyInWorkflows("$.respond"),
      flow: {
        exit: (reason?: unknown) => invocation.exit(reason),
        delay: () => onlyInWorkflows("$.flow.delay"),
        suspend: () => onlyInWorkflows("$.flow.suspend"),
        rerun: () => onlyInWorkflows("$.flow.rerun"),
      },
      send: Object.fromEntries(
        SENDS.map((name) => [name, () => onlyInWorkflows(`$.send.${name}`)]),
      ),
      context: isObject(context) ? context : {},
    },
  };
}

function onlyInWorkflows(call: string): never {
  throw new Error(`${call} works in workflows only; this action is run alone`);
}
