/**
 * The component and the run whose code is running.
 *
 * Carried by the engine's async context through awaits, timers and callbacks, so that a
 * log line or a stray rejection finds its run, and a variable its component, while
 * others are at work. Code whose context is lost belongs to the component that is loaded
 * if there is only one, and otherwise to none. Not responsible for the behaviour of
 * components and runs.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { finalize, OwnMap } from "./intrinsics.ts";
import type { Invocation } from "./invocation.ts";

/** A component in this worker: its number, and the values that are kept for each component. */
export class ComponentScope {
  readonly number: number;
  #belongings = new OwnMap<object, unknown>();
  #isUnloaded = false;

  constructor(number: number) {
    this.number = number;
  }

  get isUnloaded(): boolean {
    return this.#isUnloaded;
  }

  /** Forgets the component: code of it that still runs belongs to no component. */
  unload(): void {
    this.#isUnloaded = true;
    loaded.delete(this.number);
    findOnly();
  }

  /** The component's value under this key; created on first use. */
  belonging<Value>(key: object, create: () => Value): Value {
    let value = this.#belongings.get(key) as Value | undefined;
    if (value === undefined) {
      value = create();
      this.#belongings.set(key, value);
    }
    return value;
  }
}

class Scope {
  readonly component: ComponentScope;
  readonly invocation: Invocation | undefined;

  constructor(component: ComponentScope, invocation: Invocation | undefined) {
    this.component = component;
    this.invocation = invocation;
  }
}

const storage = new AsyncLocalStorage<Scope>();
const currentScope = storage.getStore.bind(storage);
const enter = storage.run.bind(storage);

const loaded = new OwnMap<number, ComponentScope>();
let onlyLoaded: ComponentScope | undefined;

export function currentInvocation(): Invocation | undefined {
  return currentScope()?.invocation;
}

export function currentComponent(): ComponentScope | undefined {
  return currentScope()?.component ?? onlyLoaded;
}

/** Runs code of the component, of one of its runs unless its module is being loaded. */
export function runWithin<Result>(
  component: ComponentScope,
  invocation: Invocation | undefined,
  body: () => Result,
): Result {
  return enter(new Scope(component, invocation), body) as Result;
}

/** Registers a component whose code may run from now on. */
export function addComponent(component: ComponentScope): void {
  loaded.set(component.number, component);
  findOnly();
}

function findOnly(): void {
  onlyLoaded = undefined;
  if (loaded.size === 1) loaded.forEach((component) => onlyLoaded = component);
}

/** One value per component, and one for code without a component. */
export function perComponent<Value>(create: () => Value): () => Value {
  const key = {};
  let ofNobody: Value | undefined;
  return () => currentComponent()?.belonging(key, create) ?? (ofNobody ??= create());
}

finalize(ComponentScope, Scope);
