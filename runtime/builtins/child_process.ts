/**
 * Functions that start processes imported by name, which refuse.
 *
 * Bindings of a built-in module cannot be replaced; the import map sends components
 * here instead. Evaluated after the runtime has replaced the functions on the module
 * object, which are exported over the module's own. Not responsible for their behaviour.
 */

import childProcess from "node:child_process";

export * from "node:child_process";
export default childProcess;

export const { exec, execFile, execFileSync, execSync, fork, spawn, spawnSync } =
  childProcess;
