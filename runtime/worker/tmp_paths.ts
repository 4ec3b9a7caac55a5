/**
 * `/tmp` for component code: the worker's own folder.
 *
 * Published components write to hard-coded `/tmp/name`, where the sandbox lets no
 * worker write. Functions reached through `Deno`, the `node:fs` object and its
 * `promises` map such paths to TMPDIR instead. Functions imported from `node:fs` by name
 * are not covered: those bindings cannot be replaced from inside.
 */

import fs from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { retold, withoutAdvice } from "./refusals.ts";

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
type MapPath = (path: unknown) => unknown;

/** Functions whose result is a path. */
const GIVES_PATH = /^(mkdtemp|readlink|readLink|realpath|realPath)(Sync)?$/;
const TWO_PATHS = /^(rename|copyFile|cp|link|symlink)(Sync)?$/;

const DENO_FUNCTIONS =
  ("readFile readTextFile writeFile writeTextFile open create mkdir remove stat lstat " +
    "readDir rename copyFile link symlink truncate chmod chown realPath readLink utime")
    .split(" ");

export function installTmpPaths(): void {
  const folder = process.env.TMPDIR?.replace(/\/+$/, "");
  if (!folder) return;
  let map: MapPath = (path) => path;
  // In a root of the process's own, its folder is `/tmp` already; refusals are reworded
  // all the same.
  if (folder !== "/tmp") {
    realFolder = folder;
    // `os.tmpdir()` reads it.
    process.env.TMPDIR = "/tmp";
    keptFolders.push(`${folder}/`);
    map = createPathMap(folder, keptFolders);
  }
  const asObject = (value: unknown) => value as Record<string, unknown>;
  redirect(asObject(fs), functionNames(fs), map);
  redirect(asObject(fs.promises), functionNames(fs.promises), map);
  redirect(
    asObject(Deno),
    DENO_FUNCTIONS.flatMap((name) => [name, `${name}Sync`]),
    map,
  );
}

/** Does not change paths in the folder of this module. */
export function keepCodeFolder(entry: string): void {
  if (entry.startsWith("file:")) keptFolders.push(fileURLToPath(new URL(".", entry)));
}

/** The worker's own folder, and those with code. */
const keptFolders: string[] = [];

/** The folder that is `/tmp` to components, once that is known. */
let realFolder: string | undefined;

/** Text in which that folder is called `/tmp`. */
export function asTmp(text: string): string {
  if (realFolder === undefined || !text.includes(realFolder)) return text;
  return text.replaceAll(realFolder, "/tmp");
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
    module[name] = redirected(native as AnyFunction, name, map);
  }
}

function redirected(native: AnyFunction, name: string, map: MapPath): AnyFunction {
  const hasTwoPaths = TWO_PATHS.test(name);
  const shown = GIVES_PATH.test(name) ? shownPath : (value: unknown) => value;
  const wrapper: AnyFunction = function (this: unknown, ...args) {
    if (args.length > 0) args[0] = map(args[0]);
    if (hasTwoPaths && args.length > 1) args[1] = map(args[1]);
    const last = args.length - 1;
    const callback = args[last];
    if (typeof callback === "function" && last > 0) {
      args[last] = function (this: unknown, thrown: unknown, ...values: unknown[]) {
        return callback.call(this, retold(thrown, shownText), ...values.map(shown));
      };
    }
    try {
      const value = native.apply(this, args);
      return value instanceof Promise ? value.then(shown, rethrow) : shown(value);
    } catch (thrown) {
      rethrow(thrown);
    }
  };
  // Some carry more: `realpath.native`, what `util.promisify` looks for, the name.
  for (const key of Reflect.ownKeys(native)) {
    const descriptor = Object.getOwnPropertyDescriptor(native, key);
    if (key !== "prototype" && descriptor?.configurable) {
      if (key === "native") {
        descriptor.value = redirected(descriptor.value, name, map);
      }
      Object.defineProperty(wrapper, key, descriptor);
    }
  }
  return wrapper;
}

function rethrow(thrown: unknown): never {
  throw retold(thrown, shownText);
}

/** For errors: the folder as the component knows it, without Deno's advice on flags. */
function shownText(text: string): string {
  return asTmp(withoutAdvice(text));
}

function shownPath(value: unknown): unknown {
  return typeof value === "string" ? asTmp(value) : value;
}
