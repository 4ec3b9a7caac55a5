/**
 * Where Deno's Node layer differs from Node in ways that packages trip over.
 *
 * Responsible for questions about files that may not be read, which Node answers with
 * no and Deno with an exception, and for warnings that Node keeps from code in
 * packages. Not responsible for what a component may do.
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
