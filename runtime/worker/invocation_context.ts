/**
 * Which invocation the code now running belongs to.
 *
 * Carried by the engine's async context through awaits, timers and callbacks, so
 * that a log line or a stray rejection finds its run while others are in flight.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Invocation } from "./invocation.ts";

const storage = new AsyncLocalStorage<Invocation>();
const getStore = storage.getStore.bind(storage);
const enter = storage.run.bind(storage);

export function currentInvocation(): Invocation | undefined {
  return getStore();
}

export function runWithin<Result>(invocation: Invocation, body: () => Result): Result {
  return enter(invocation, body) as Result;
}
