/**
 * App objects as `this.<app>`: the account's credentials and the app's methods.
 *
 * Responsible for methods whose `this` is the app object. Not responsible for
 * the origin of credentials: `$auth` arrives with the invocation and is stored nowhere else.
 */

import { type AppDefinition, isObject } from "./component.ts";
import { defineMethods } from "./methods.ts";

/** Builds an app's object from the value that came with the invocation. */
export type AppFactory = (value: unknown) => object;

export function createAppFactory(definition: AppDefinition): AppFactory {
  const prototype = {};
  Object.defineProperties(prototype, {
    app: { value: definition.app, writable: true, configurable: true },
    propDefinitions: {
      value: definition.propDefinitions,
      writable: true,
      configurable: true,
    },
  });
  defineMethods(prototype, definition.methods);

  return (value) => {
    const app = Object.create(prototype) as Record<string, unknown>;
    // An optional app without an account: its methods should meet missing
    // credentials, not a missing object.
    app.$auth = {};
    return isObject(value) ? Object.assign(app, value) : app;
  };
}
