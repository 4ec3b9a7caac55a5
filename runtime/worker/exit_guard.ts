/**
 * Calls that would end the process end the run instead.
 *
 * An exit of the worker would end its other runs; the calling run fails with an error
 * that names the call. Not responsible for a worker that is really killed.
 */

import process from "node:process";

/** Ends the calling run; throws an error to the caller. */
export type ExitHandler = (call: string) => never;

export function installExitGuard(onExit: ExitHandler): void {
  const guard = (name: string) => (code?: unknown) => {
    // Set by a named import of `exit` on its way here; it would stop `nextTick`.
    Object.assign(process, { _exiting: false });
    return onExit(`${name}(${code ?? ""})`);
  };
  Object.assign(process, {
    exit: guard("process.exit"),
    reallyExit: guard("process.exit"),
    abort: guard("process.abort"),
  });
  Object.assign(Deno, { exit: guard("Deno.exit") });
}
