/**
 * The `this` of a component's code.
 *
 * Everything that depends on the definition alone is prepared once per component; each
 * invocation then gets its own object, so that a run's writes to `this` do not reach
 * another. Not responsible for prop values, which the host has made final.
 */

import { createAppFactory } from "./app.ts";
import { type Component, isApp, isObject } from "./component.ts";
import { createDataStore } from "./data_store.ts";
import { createHttpRequest } from "./http_request.ts";
import type { Invocation } from "./invocation.ts";
import { defineMethods, setOwn } from "./methods.ts";
import { resolveProp } from "./prop_definition.ts";
import type { PropValues } from "./protocol.ts";
import { channelOf, sendEvent } from "./sends.ts";
import { respondInStep } from "./step_response.ts";

export type Instance = Record<string, unknown>;

/** Creates the value of `this.<prop>` for one invocation. */
type Binding = (value: unknown, invocation: Invocation) => unknown;

class BaseInstance {
  #invocation: Invocation;

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  get $emit() {
    return emitOf(BaseInstance.#invocationOf(this));
  }

  set $emit(value: unknown) {
    setOwn(this, "$emit", value, true);
  }

  get respond() {
    return respondOf(BaseInstance.#invocationOf(this));
  }

  set respond(value: unknown) {
    setOwn(this, "respond", value, true);
  }

  /** Components also call methods on objects made with `Object.create(this)`. */
  static #invocationOf(receiver: object): Invocation {
    let owner: object | null = receiver;
    while (owner !== null && !(#invocation in owner)) {
      owner = Object.getPrototypeOf(owner);
    }
    if (owner === null) throw new TypeError("not called on a component");
    return (owner as BaseInstance).#invocation;
  }
}

/** In a workflow's step, the workflow emits. */
function emitOf(invocation: Invocation): (event?: unknown, options?: unknown) => void {
  const { step } = invocation;
  if (step === undefined) {
    return (event, options) => invocation.emit(event, options);
  }
  return (event, options) => sendEvent(step, event, channelOf(options));
}

function respondOf(invocation: Invocation): (response: unknown) => unknown {
  const { step } = invocation;
  if (step === undefined) return (response) => invocation.respond(response);
  return (response) => respondInStep(invocation, step, response);
}

const bindHttp: Binding = (value, invocation) => ({
  ...(isObject(value) ? value : { endpoint: undefined }),
  respond: respondOf(invocation),
});

const bindTimer: Binding = (value) =>
  isObject(value) ? { ...value, intervalSeconds: value.interval_seconds } : value;

/** The values of a workflow's step are not marked as such. */
const bindHttpRequest: Binding = (value) => {
  if (!isObject(value)) return value;
  const { $http_request: marked } = value;
  return createHttpRequest(isObject(marked) ? marked : value);
};

const bindDb: Binding = (_value, invocation) => ({
  get: (key: unknown) => invocation.getValue(key),
  set: (key: unknown, value: unknown) => invocation.setValue(key, value),
  delete: (key: unknown) => invocation.setValue(key, undefined),
});

function bindingOf(name: string, definition: unknown): Binding | undefined {
  if (isApp(definition)) {
    return createAppFactory(definition);
  }
  switch (typeOf(name, definition)) {
    case "$.service.db":
      return bindDb;
    case "$.interface.http":
      return bindHttp;
    case "$.interface.timer":
      return bindTimer;
    case "http_request":
      return bindHttpRequest;
  }
  return undefined;
}

/** Entries that are not props are reported when the component is described. */
function typeOf(name: string, definition: unknown): string | undefined {
  try {
    return resolveProp(name, definition).type;
  } catch {
    return undefined;
  }
}

/** Some values stand for a resource of the host, whether the prop is static or added. */
function bindValue(value: unknown, invocation: Invocation): unknown {
  if (!isObject(value)) return value;
  const { $data_store: store, $http_request: request } = value;
  if (typeof store === "string") return createDataStore(store, invocation);
  return isObject(request) ? createHttpRequest(request) : value;
}

const NO_VALUES = Object.freeze({ __proto__: null }) as unknown as PropValues;

export class InstanceFactory {
  #Instance: typeof BaseInstance;
  #bindings: [name: string, binding: Binding][] = [];
  #bound = new Set<string>();

  constructor(component: Component) {
    this.#Instance = class Component extends BaseInstance {};
    defineMethods(this.#Instance.prototype, component.methods);
    for (const [name, definition] of Object.entries(component.props ?? {})) {
      const binding = bindingOf(name, definition);
      if (binding === undefined) continue;
      this.#bindings.push([name, binding]);
      this.#bound.add(name);
    }
    // Would otherwise be the prototype's setter.
    this.#bound.add("__proto__");
  }

  /** @param plain are values of a workflow, which never stand for resources of the host */
  create(
    invocation: Invocation,
    values: PropValues,
    plain: PropValues = NO_VALUES,
  ): Instance {
    const instance = new this.#Instance(invocation) as unknown as Instance;
    for (const name in plain) {
      if (!this.#bound.has(name)) instance[name] = plain[name];
    }
    for (const name in values) {
      if (!this.#bound.has(name)) instance[name] = bindValue(values[name], invocation);
    }
    for (const [name, binding] of this.#bindings) {
      instance[name] = binding(values[name] ?? plain[name], invocation);
    }
    return instance;
  }
}
