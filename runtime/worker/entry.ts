/**
 * The entry points of a component's code: `run`, its hooks, its computed props.
 *
 * Responsible for choosing the function and its arguments, and for passing its results
 * on. Not responsible for the invocation around the call, nor for steps of workflows
 * (`step.ts`).
 */

import { actionArguments } from "./action_alone.ts";
import {
  type Component,
  isAction,
  isFunction,
  isObject,
  missingRun,
} from "./component.ts";
import type { Instance } from "./instance.ts";
import type { Invocation } from "./invocation.ts";
import { toJson } from "./json.ts";
import { callAdditionalProps, callOptions } from "./options.ts";
import type { ComponentEntry, HookName } from "./protocol.ts";

export function callEntry(
  component: Component,
  instance: Instance,
  invocation: Invocation,
  entry: ComponentEntry,
  event: unknown,
): unknown {
  switch (entry.kind) {
    case "run":
      return callRun(component, instance, invocation, event);
    case "hook":
      return callHook(component, instance, entry.name);
    case "options":
      return callOptions(component, instance, entry);
    case "additional_props":
      return callAdditionalProps(component, instance);
  }
}

/** The result as JSON. A source's result is ignored, so that it may be anything. */
export function resultJson(
  value: unknown,
  component: Component,
  entry: ComponentEntry,
): string | undefined {
  switch (entry.kind) {
    case "hook":
      return undefined;
    case "run":
      return isAction(component)
        ? toJson(value, "the return value")
        : serializableOnly(value);
    case "options":
      return toJson(value, `options of prop "${entry.prop}": the return value`);
    case "additional_props":
      return toJson(value, "additionalProps: the return value");
  }
}

function callRun(
  component: Component,
  instance: Instance,
  invocation: Invocation,
  event: unknown,
): unknown {
  if (!isFunction(component.run)) {
    throw new TypeError(missingRun(component) ?? "an app cannot be run");
  }
  const argument = isAction(component) ? actionArguments(event, invocation) : event;
  return component.run.call(instance, argument);
}

function callHook(component: Component, instance: Instance, name: HookName): unknown {
  const hook = isObject(component.hooks) ? component.hooks[name] : undefined;
  return isFunction(hook) ? hook.call(instance) : undefined;
}

function serializableOnly(value: unknown): string | undefined {
  try {
    return toJson(value, "the return value");
  } catch {
    return undefined;
  }
}
