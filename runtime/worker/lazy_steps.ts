/**
 * Large values of `steps`, read from their files when code first asks for them.
 *
 * Each becomes a plain value as soon as it is read or assigned to. Not responsible for
 * the files, which the host writes for the run.
 */

import {
  hasOwn,
  jsonParse,
  objectKeys,
  readTextFile,
  stringSlice,
} from "./intrinsics.ts";
import type { Steps } from "./workflow_input.ts";

const { defineProperty } = Object;

/** The same `steps`, to which the values in the files have been added. */
export function withLazyValues(
  steps: Steps,
  lazy: Record<string, string> | undefined,
): Steps {
  if (lazy === undefined) return steps;
  const names = objectKeys(lazy);
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const dot = name.indexOf(".");
    const read = () => readJson(name, lazy[name]!);
    if (dot < 0) {
      defineLazy(steps, name, read);
      continue;
    }
    const namespace = stringSlice(name, 0, dot);
    // A namespace may have the name of something that all objects inherit.
    if (!hasOwn(steps, namespace)) {
      define(steps, namespace, { value: {}, writable: true });
    }
    defineLazy(steps[namespace] as object, stringSlice(name, dot + 1), read);
  }
  return steps;
}

function defineLazy(target: object, name: string, read: () => unknown): void {
  const become = (value: unknown) => define(target, name, { value, writable: true });
  const get = () => {
    const value = read();
    become(value);
    return value;
  };
  define(target, name, { get, set: become });
}

/** Without a prototype, the fields are only those here, whatever a component added to all objects. */
function define(target: object, name: string, fields: PropertyDescriptor): void {
  const descriptor = {
    __proto__: null,
    enumerable: true,
    configurable: true,
    ...fields,
  };
  defineProperty(target, name, descriptor as PropertyDescriptor);
}

function readJson(name: string, path: string): unknown {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (cause) {
    throw new Error(`the value of steps.${name} cannot be read`, { cause });
  }
  return jsonParse(text);
}
