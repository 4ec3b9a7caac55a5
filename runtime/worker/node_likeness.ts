/**
 * Differences of Deno's Node layer from Node that break packages.
 *
 * Responsible for checks of unreadable files, where Node returns false and Deno throws,
 * and for warnings that Node does not show for code in packages. Not responsible for a
 * component's permissions.
 */

import fs from "node:fs";
import process from "node:process";
import { promisify } from "node:util";

export function installNodeLikeness(): void {
  // A bundle hides that it is a package that uses the deprecated built-in.
  (process as { noDeprecation?: boolean }).noDeprecation = true;
  const { existsSync } = fs;
  replace("existsSync", (path: unknown) => {
    try {
      return existsSync(path as string);
    } catch {
      return false;
    }
  });
  const exists = (path: unknown, callback: (exists: boolean) => void) => {
    process.nextTick(callback, fs.existsSync(path as string));
  };
  const promised = (path: unknown) => Promise.resolve(fs.existsSync(path as string));
  replace("exists", Object.assign(exists, { [promisify.custom]: promised }));
}

function replace(name: "exists" | "existsSync", value: unknown): void {
  const previous = Object.getOwnPropertyDescriptor(fs, name);
  Object.defineProperty(fs, name, { ...previous, value });
}
