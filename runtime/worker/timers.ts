/**
 * Timers that belong to the run which started them.
 *
 * An interval must not continue after the run that started it: pending timers are
 * cancelled when the run ends, and none can be started for it afterwards. Timers
 * started while the module loads belong to no run and continue until the component is
 * unloaded: one that is due afterwards does nothing. The own time of a run that has one
 * moves on by the delays of its timers. An error of a timer or an immediate
 * fails its run; immediates are not cut, as they come at once. Not responsible for the
 * promise timers of `node:timers/promises`, whose continuations find their run ended.
 */

import nodeTimers from "node:timers";
import { currentComponent, currentInvocation } from "./scope.ts";

type Callback = (this: unknown, ...args: unknown[]) => void;
type StartTimer = (callback: Callback, delayMs?: number, ...args: unknown[]) => unknown;
type StartImmediate = (callback: Callback, ...args: unknown[]) => unknown;
type ReportFailure = (thrown: unknown) => void;
type TimerFunction = "setTimeout" | "setInterval" | "setImmediate";

const startTimeout = globalThis.setTimeout as unknown as StartTimer;
const startInterval = globalThis.setInterval as unknown as StartTimer;
const startImmediate = globalThis.setImmediate as unknown as StartImmediate;
const clearTimer = globalThis.clearTimeout as (timer: unknown) => void;

export function installTimers(report: ReportFailure): void {
  install("setTimeout", ownedTimer(startTimeout, true, report));
  install("setInterval", ownedTimer(startInterval, false, report));
  install("setImmediate", reportingImmediate(report));
}

function ownedTimer(start: StartTimer, firesOnce: boolean, report: ReportFailure) {
  const owned: StartTimer = (callback, delayMs, ...args) => {
    const component = currentComponent();
    if (component === undefined || typeof callback !== "function") {
      return start(callback, delayMs, ...args);
    }
    const invocation = currentInvocation();
    const cancel = () => clearTimer(timer);
    let dueMs = invocation?.nowMs;
    const timer = start(
      function (this: unknown) {
        if (component.isUnloaded) return cancel();
        if (firesOnce) invocation?.removeTimer(cancel);
        if (dueMs !== undefined) {
          dueMs += Math.max(Number(delayMs) || 0, 0);
          invocation?.moveTo(dueMs);
        }
        try {
          callback.apply(this, args);
        } catch (thrown) {
          report(thrown);
        }
      },
      delayMs,
    );
    if (invocation?.hasEnded) cancel();
    else invocation?.addTimer(cancel, () => isPending(timer));
    return timer;
  };
  return owned;
}

/** Whether somebody waits for it: not for one that was cleared, or holds up no process. */
function isPending(timer: unknown): boolean {
  const { _destroyed, hasRef } = timer as { _destroyed?: boolean; hasRef?: unknown };
  return _destroyed !== true &&
    (typeof hasRef !== "function" || hasRef.call(timer) !== false);
}

/** An error of an immediate would otherwise reach the runtime without its context. */
function reportingImmediate(report: ReportFailure): StartImmediate {
  return (callback, ...args) => {
    if (typeof callback !== "function") return startImmediate(callback, ...args);
    return startImmediate(function (this: unknown) {
      try {
        callback.apply(this, args);
      } catch (thrown) {
        report(thrown);
      }
    });
  };
}

function install(name: TimerFunction, owned: StartTimer | StartImmediate): void {
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
