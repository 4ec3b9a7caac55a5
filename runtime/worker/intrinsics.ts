/**
 * References to the built-ins the runtime itself depends on, taken before any
 * component code is loaded.
 *
 * A component may patch prototypes and globals as it likes; what the runtime calls
 * on the path between a frame and its bytes must not change under it, or a patched
 * `Uint8Array.prototype.set` would be handed the session token. Not responsible for
 * hiding these built-ins from components.
 */

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

export const jsonStringify = JSON.stringify;
export const jsonParse = JSON.parse;
export const encodeInto = encoder.encodeInto.bind(encoder);
export const encodeUtf8 = encoder.encode.bind(encoder);
export const decodeUtf8 = decoder.decode.bind(decoder);
export const microtask = globalThis.queueMicrotask.bind(globalThis);
export const Bytes = Uint8Array;
export const copyBytes = uncurry(Uint8Array.prototype.set);
export const inspect = Deno.inspect;
export const readStdin = Deno.stdin.read.bind(Deno.stdin);
export const writeStdout = Deno.stdout.writeSync.bind(Deno.stdout);
export const writeStderr = Deno.stderr.writeSync.bind(Deno.stderr);
export const exitProcess: (code?: number) => never = Deno.exit;

export const toWellFormed = uncurry(String.prototype.toWellFormed);
export const stringIncludes = uncurry(String.prototype.includes);
export const regexpReplace = uncurry(
  RegExp.prototype[Symbol.replace] as (
    this: RegExp,
    text: string,
    by: string,
  ) => string,
);
export const stringSplitBy = uncurry(
  String.prototype.split as (this: string, separator: string) => string[],
);
