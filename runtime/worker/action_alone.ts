/**
 * The argument of an action that is run alone, outside of workflows.
 *
 * Responsible for the shape of its `$`. An action that runs alone has neither a request to
 * respond to nor a workflow to pause: such members say so. Not responsible for the use
 * of exports, nor for steps of workflows (`step_interface.ts`).
 */

import { isObject } from "./component.ts";
import type { Invocation } from "./invocation.ts";

export interface ActionArguments {
  steps: Record<string, unknown>;
  $: Record<string, unknown>;
}

const FLOW = ["delay", "suspend", "rerun", "trigger", "refreshTimeout"];
const SENDS = ["http", "email", "s3", "emit", "sse"];
const FILES = ["open", "openDescriptor", "dir"];

/** @param event has `steps` and `context`, if anything */
export function actionArguments(
  event: unknown,
  invocation: Invocation,
): ActionArguments {
  const { steps = {}, context = {} } = isObject(event) ? event : {};
  return {
    steps: isObject(steps) ? steps : {},
    $: {
      export: (name: unknown, value: unknown) => invocation.export(name, value),
      respond: () => onlyInWorkflows("$.respond"),
      flow: {
        exit: (reason?: unknown) => invocation.exit(reason),
        ...refused("$.flow", FLOW),
      },
      send: refused("$.send", SENDS),
      files: refused("$.files", FILES),
      context: isObject(context) ? context : {},
    },
  };
}

function refused(object: string, names: string[]): Record<string, () => never> {
  return Object.fromEntries(
    names.map((name) => [name, () => onlyInWorkflows(`${object}.${name}`)]),
  );
}

function onlyInWorkflows(call: string): never {
  throw new Error(`${call} works in workflows only; this action is run alone`);
}
