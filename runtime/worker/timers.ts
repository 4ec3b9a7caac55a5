/**
 * Timers that belong to the run which started them.
 *
 * A component that leaves an interval behind must not go on after its run: pending
 * timers are cut when the run ends, and none can be started for it afterwards. What a
 * timer throws fails its run. Timers started while the module loads belong to no run
 * and are left alone. Not responsible for the promise timers of `node:timers/promises`,
 * whose continuations find their run ended.
 */

import nodeTimers from "node:timers";
import type { Invocation } from "./invocation.ts";
import { currentInvocation } from "./invocation_context.ts";

type Callback = (this: unknown, ...args: unknown[]) => void;
type StartTimer = (callback: Callback, delayMs?: number, ...args: unknown[]) => unknown;
type ReportFailure = (invocation: Invocation, thrown: unknown) => void;

const startTimeout = globalThis.setTimeout as unknown as StartTimer;
const startInterval = globalThis.setInterval as unknown as StartTimer;
const clearTimer = globalThis.clearTimeout as (timer: unknown) => void;

export function installTimers(reportFailure: ReportFailure): void {
  install("setTimeout", ownedTimer(startTimeout, true, reportFailure));
  install("setInterval", ownedTimer(startInterval, false, reportFailure));
}

function ownedTimer(start: StartTimer, firesOnce: boolean, report: ReportFailure) {
  const owned: StartTimer = (callback, delayMs, ...args) => {
    const invocation = currentInvocation();
    if (invocation === undefined || typeof callback !== "function") {
      return start(callback, delayMs, ...args);
    }
    const cancel = () => clearTimer(timer);
    const timer = start(
      function (this: unknown) {
        if (firesOnce) invocation.removeTimer(cancel);
        try {
          callback.apply(this, args);
        } catch (thrown) {
          report(invocation, thrown);
        }
      },
      delayMs,
    );
    if (invocation.hasEnded) cancel();
    else invocation.addTimer(cancel);
    return timer;
  };
  return owned;
}

function install(name: "setTimeout" | "setInterval", owned: StartTimer): void {
  const native = globalThis[name];
  // `util.promisify(setTimeout)` finds its variant under a symbol.
  for (const symbol of Object.getOwnPropertySymbols(native)) {
    const descriptor = Object.getOwnPropertyDescriptor(native, symbol);
    if (descriptor !== undefined) Object.defineProperty(owned, symbol, descriptor);
  }
  Object.defineProperty(owned, "name", { value: name });
  Object.assign(globalThis, { [name]: owned });
  Object.assign(nodeTimers, { [name]: owned });
}
