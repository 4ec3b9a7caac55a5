/**
 * Methods that stay bound to their object when detached from it.
 *
 * Components write `const { request } = this` and hand `this.request` to others.
 * Binding each method of each `this` on each run would cost more than the run, so a
 * prototype binds on first use. Not responsible for the methods themselves.
 */

import { type ComponentFunction, isFunction, isObject } from "./component.ts";

/** Adds the methods to a prototype shared by all runs of a component. */
export function defineMethods(prototype: object, methods: unknown): void {
  if (!isObject(methods)) return;
  for (const name of Object.keys(methods)) {
    if (name === "__proto__") continue;
    const method = methods[name];
    if (isFunction(method)) defineMethod(prototype, name, method);
    else defineConstant(prototype, name, method);
  }
}

function defineMethod(
  prototype: object,
  name: string,
  method: ComponentFunction,
): void {
  Object.defineProperty(prototype, name, {
    get(this: object) {
      const bound = method.bind(this);
      setOwn(this, name, bound, false);
      return bound;
    },
    set(this: object, value: unknown) {
      setOwn(this, name, value, true);
    },
    enumerable: false,
    configurable: true,
  });
}

function defineConstant(prototype: object, name: string, value: unknown): void {
  Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
}

export function setOwn(
  target: object,
  name: string,
  value: unknown,
  enumerable: boolean,
): void {
  Object.defineProperty(target, name, {
    value,
    enumerable,
    writable: true,
    configurable: true,
  });
}
