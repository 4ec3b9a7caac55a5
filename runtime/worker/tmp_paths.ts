/**
 * `/tmp` for component code: the worker's own folder.
 *
 * Published components write to hard-coded `/tmp/name`, where the sandbox lets no
 * worker write. Functions reached through `Deno`, the `node:fs` object and its
 * `promises` take such paths to TMPDIR instead. Not reachable this way are functions
 * imported from `node:fs` by name: those bindings cannot be replaced from inside.
 */

import fs from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
type MapPath = (path: unknown) => unknown;

const TWO_PATHS = /^(rename|copyFile|cp|link|symlink)(Sync)?$/;

const DENO_FUNCTIONS =
  ("readFile readTextFile writeFile writeTextFile open create mkdir remove stat lstat " +
    "readDir rename copyFile link symlink truncate chmod chown realPath readLink utime")
    .split(" ");

export function installTmpPaths(entry: string): void {
  const folder = process.env.TMPDIR?.replace(/\/+$/, "");
  if (!folder || folder === "/tmp" || !entry.startsWith("file:")) return;
  const code = fileURLToPath(new URL(".", entry));
  const map = createPathMap(folder, [`${folder}/`, code]);
  const asObject = (value: unknown) => value as Record<string, unknown>;
  redirect(asObject(fs), functionNames(fs), map);
  redirect(asObject(fs.promises), functionNames(fs.promises), map);
  redirect(
    asObject(Deno),
    DENO_FUNCTIONS.flatMap((name) => [name, `${name}Sync`]),
    map,
  );
}

/** Paths already inside one of `kept` stay: in a test everything lives under /tmp. */
export function createPathMap(folder: string, kept: string[]): MapPath {
  return (path) => {
    const text = path instanceof URL && path.protocol === "file:"
      ? fileURLToPath(path)
      : path;
    if (typeof text !== "string") return path;
    if (text === "/tmp") return folder;
    if (!text.startsWith("/tmp/") || text === folder) return path;
    if (kept.some((prefix) => text.startsWith(prefix))) return path;
    return folder + text.slice("/tmp".length);
  };
}

function functionNames(module: object): string[] {
  return Object.keys(module).filter((name) => /^[a-z]/.test(name));
}

function redirect(
  module: Record<string, unknown>,
  names: string[],
  map: MapPath,
): void {
  for (const name of names) {
    const native = module[name];
    if (typeof native !== "function") continue;
    module[name] = redirected(native as AnyFunction, TWO_PATHS.test(name), map);
  }
}

function redirected(
  native: AnyFunction,
  hasTwoPaths: boolean,
  map: MapPath,
): AnyFunction {
  const wrapper: AnyFunction = function (this: unknown, ...args) {
    if (args.length > 0) args[0] = map(args[0]);
    if (hasTwoPaths && args.length > 1) args[1] = map(args[1]);
    return native.apply(this, args);
  };
  // Some carry more: `realpath.native`, what `util.promisify` looks for, the name.
  for (const key of Reflect.ownKeys(native)) {
    const descriptor = Object.getOwnPropertyDescriptor(native, key);
    if (key !== "prototype" && descriptor?.configurable) {
      Object.defineProperty(wrapper, key, descriptor);
    }
  }
  return wrapper;
}
