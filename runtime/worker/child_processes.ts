/**
 * Refusal of starting processes.
 *
 * Responsible for a clear error from every function of `child_process`: Deno's error
 * about a refused start reads like a fault of the package. Not responsible
 * for the refusal itself, which is the sandbox's.
 */

import childProcess from "node:child_process";

const STARTING = [
  "exec",
  "execFile",
  "execFileSync",
  "execSync",
  "fork",
  "spawn",
  "spawnSync",
];

export function installChildProcesses(): void {
  for (const name of STARTING) {
    Object.defineProperty(childProcess, name, {
      value: (command: unknown) => refuse(name, command),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}

function refuse(name: string, command: unknown): never {
  const error = new Error(
    `components cannot start processes: child_process.${name}(${shown(command)})`,
  );
  // As Node has it where processes are not allowed.
  throw Object.assign(error, { code: "ERR_ACCESS_DENIED" });
}

function shown(command: unknown): string {
  return typeof command === "string" ? JSON.stringify(command) : "";
}
