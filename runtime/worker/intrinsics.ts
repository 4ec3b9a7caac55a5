/**
 * References to the built-ins the runtime itself depends on, taken before any
 * component code is loaded.
 *
 * A component may patch prototypes and globals as it likes; the runtime's calls
 * on the path between a frame and its bytes must not be affected, or a patched
 * `Uint8Array.prototype.set` would be handed the session token. Not responsible for
 * hiding these built-ins from components.
 */

import { Buffer } from "node:buffer";

type Uncurried<This, Args extends unknown[], Result> = (
  self: This,
  ...args: Args
) => Result;

/** Turns a method into a function of its receiver that no later patch can intercept. */
function uncurry<This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
): Uncurried<This, Args, Result> {
  return Function.prototype.call.bind(method) as Uncurried<This, Args, Result>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const byteLength: (text: string) => number = Buffer.byteLength;
export const jsonStringify = JSON.stringify;
export const jsonParse = JSON.parse;
export const encodeInto = encoder.encodeInto.bind(encoder);
export const encodeUtf8 = encoder.encode.bind(encoder);
export const decodeUtf8 = decoder.decode.bind(decoder);
export const microtask = globalThis.queueMicrotask.bind(globalThis);
export const Bytes = Uint8Array;
export const Memory = ArrayBuffer;
export const copyBytes = uncurry(Uint8Array.prototype.set);
export const fillBytes = uncurry(Uint8Array.prototype.fill);
export const objectKeys = Object.keys;
export const hasOwn = Object.hasOwn;
export const isArray = Array.isArray as (value: unknown) => value is unknown[];
export const promiseThen = uncurry(
  Promise.prototype.then as (
    this: Promise<unknown>,
    done: (value: any) => unknown,
  ) => Promise<unknown>,
);
export const inspect = Deno.inspect;
const read = Deno.stdin.read.bind(Deno.stdin);
export const writeStdout = Deno.stdout.writeSync.bind(Deno.stdout);
export const writeStderr = Deno.stderr.writeSync.bind(Deno.stderr);
export const exitProcess: (code?: number) => never = Deno.exit;
/** Reads any file that the sandbox allows, with paths as they are. */
export const readTextFile = Deno.readTextFileSync.bind(Deno);

export const Address = URL;
const { internal } = Deno as unknown as { internal: symbol };
const { evalContext } = (Deno as any)[internal].core;

/** The value of a script that has this URL, in stacks and for what it imports. Throws what the script throws. */
export function evaluateScript(script: string, url: string): any {
  const [value, failure] = evalContext(script, url);
  if (failure !== null) throw failure.thrown;
  return value;
}

export const toWellFormed = uncurry(String.prototype.toWellFormed);
export const stringIncludes = uncurry(String.prototype.includes);
export const stringIndexOf = uncurry(String.prototype.indexOf);
export const stringSlice = uncurry(String.prototype.slice);
export const stringTrim = uncurry(String.prototype.trim);
export const stringSplitBy = uncurry(
  String.prototype.split as (this: string, separator: string) => string[],
);

export const { freeze } = Object;
const { defineProperty } = Object;

/**
 * Reads into `length` bytes of `memory`; null at the end.
 *
 * Deno asks the view for its `length`, which is an accessor that a component may have
 * replaced; a property of the view's own comes first.
 */
export function readStdin(
  memory: ArrayBuffer,
  start: number,
  length: number,
): Promise<number | null> {
  const view = new Bytes(memory, start, length);
  // Without a prototype, so that no `Object.prototype.get` makes an accessor of it.
  const own = { __proto__: null, value: length } as PropertyDescriptor;
  return read(defineProperty(view, "length", own));
}

/**
 * Makes the methods of classes final: a component may import the runtime's modules, and
 * a method that it replaced would be handed the runtime's own objects.
 */
export function finalize(...classes: { prototype: object }[]): void {
  for (const each of classes) freeze(freeze(each).prototype);
}

/** The object's own fields: nothing that a component added to all objects. */
export function ownFields<Fields>(object: unknown): Fields {
  return { __proto__: null, ...(object as object) } as Fields;
}

/** A map whose methods are its own, whatever becomes of `Map.prototype`. */
export class OwnMap<Key, Value> extends Map<Key, Value> {}

Object.defineProperties(
  OwnMap.prototype,
  Object.getOwnPropertyDescriptors(Map.prototype),
);
Object.setPrototypeOf(OwnMap.prototype, null);
finalize(OwnMap);
