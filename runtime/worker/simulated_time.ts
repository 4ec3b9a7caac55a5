/**
 * `Date` for code whose run has a time of its own, as in tests of workflows.
 *
 * That time stands still while code runs; a timer that comes moves it on by its delay, as
 * `timers.ts` does. Not responsible for `performance`, which measures real time, nor for
 * code whose run is not known: it has the machine's time.
 */

import { currentInvocation } from "./scope.ts";

let isInstalled = false;

/** Puts the run's time in place of the machine's; workers without such runs keep the native `Date`. */
export function installSimulatedTime(): void {
  if (isInstalled) return;
  isInstalled = true;
  const native = globalThis.Date;
  const machineNow = native.now;
  const now = () => currentInvocation()?.nowMs ?? machineNow();
  const simulated = new Proxy(native, {
    construct: (target, given, newTarget) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: () => new native(now()).toString(),
  });
  native.now = now;
  native.prototype.constructor = simulated;
  globalThis.Date = simulated;
}
