/**
 * `/tmp` for component code: a folder of each component or workflow's run, in the worker's.
 *
 * Published components write to hard-coded `/tmp/name`, where the sandbox lets no
 * worker write, or where another source of the same code would write too. Functions
 * reached through `Deno`, the `node:fs` object, its `promises` and imports by name map
 * such paths to the component's folder instead, or to one that the steps of a workflow's
 * run share. Not a wall between components: code that looks for the folders of others
 * finds them.
 */

import fs from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { OwnMap } from "./intrinsics.ts";
import { retold, withoutAdvice } from "./refusals.ts";
import { currentComponent, currentInvocation } from "./scope.ts";

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
type MapPath = (path: unknown) => unknown;

/** Functions whose result is a path. */
const GIVES_PATH =
  /^(mkdtemp|makeTempDir|makeTempFile|readlink|readLink|realpath|realPath)(Sync)?$/;
const TWO_PATHS = /^(rename|copyFile|cp|link|symlink)(Sync)?$/;

const DENO_FUNCTIONS =
  ("readFile readTextFile writeFile writeTextFile open create mkdir remove stat lstat " +
    "readDir rename copyFile link symlink truncate chmod chown realPath readLink utime")
    .split(" ");

const { mkdirSync, remove } = Deno;

export function installTmpPaths(): void {
  worker = process.env.TMPDIR?.replace(/\/+$/, "") ?? "";
  if (worker === "") return;
  // `os.tmpdir()` reads it.
  process.env.TMPDIR = "/tmp";
  const folder = RegExp.escape(worker);
  const own = `${RegExp.escape(OF_COMPONENT)}\\d+|${RegExp.escape(OF_RUN)}[\\w-]+`;
  realFolders = new RegExp(`${folder}/(${own})|${folder}(?=/|$)`, "g");
  const map: MapPath = (path) => {
    const own = ownFolder();
    const to = mapped(path, own, keptFolders);
    if (to !== path) ensureFolder(own);
    return to;
  };
  const asObject = (value: unknown) => value as Record<string, unknown>;
  redirect(asObject(fs), functionNames(fs), map);
  redirect(asObject(fs.promises), functionNames(fs.promises), map);
  redirect(
    asObject(Deno),
    DENO_FUNCTIONS.flatMap((name) => [name, `${name}Sync`]),
    map,
  );
  redirectMakeTemp(asObject(Deno), map);
}

/** Functions that choose a name themselves: in `/tmp`, unless another folder is given. */
function redirectMakeTemp(deno: Record<string, unknown>, map: MapPath): void {
  for (const name of ["makeTempDir", "makeTempFile"]) {
    for (const full of [name, `${name}Sync`]) {
      const native = deno[full] as AnyFunction;
      const inFolder: AnyFunction = (folder, options) =>
        native.call(deno, { ...options as object, dir: folder });
      const make = redirected(inFolder, full, map);
      deno[full] = (options: { dir?: string } = {}) =>
        make(options.dir ?? "/tmp", options);
    }
  }
}

/** The beginning of the names of components' folders; none that a component chooses. */
const OF_COMPONENT = ".component-";

/** The same of runs' folders. */
const OF_RUN = ".run-";

/** The worker's own folder. */
let worker = "";

/** The folders that are `/tmp` to components, once they are known. */
let realFolders: RegExp | undefined;

/** Folders with code, in which paths are not changed. */
const keptFolders: string[] = [];

/** Components with code in each of them. */
const keptFor = new OwnMap<string, number>();

/** The folder that is `/tmp` to the code that is running. */
function ownFolder(): string {
  const run = currentInvocation()?.tmp;
  if (run !== undefined) return folderOfRun(run);
  const component = currentComponent();
  return component === undefined ? worker : folderOf(component.number);
}

function folderOf(component: number): string {
  return `${worker}/${OF_COMPONENT}${component}`;
}

function folderOfRun(name: string): string {
  return `${worker}/${OF_RUN}${name}`;
}

/** Folders that have been used. Most never are. */
const created = new OwnMap<string, true>();

function ensureFolder(own: string): void {
  if (own === worker || created.has(own) || isLate()) return;
  try {
    mkdirSync(own, { recursive: true });
    created.set(own, true);
  } catch {
    // A process that only describes a component has nowhere to write, and a disk may be full.
  }
}

/** Whether nobody would remove a folder of the run, because it may have been forgotten. */
function isLate(): boolean {
  const invocation = currentInvocation();
  return invocation?.tmp !== undefined && invocation.hasEnded;
}

/** Does not change paths in the folder of the component's module. */
export function enterFolders(entry: string): void {
  const code = folderOfCode(entry);
  const others = keptFor.get(code) ?? 0;
  keptFor.set(code, others + 1);
  if (others === 0 && code !== "") keptFolders.push(code);
}

/** Removes the component's folder. */
export function leaveFolders(component: number, entry: string): void {
  const code = folderOfCode(entry);
  const others = (keptFor.get(code) ?? 0) - 1;
  if (others > 0) {
    keptFor.set(code, others);
  } else if (keptFor.delete(code) && code !== "") {
    keptFolders.splice(keptFolders.indexOf(code), 1);
  }
  removeFolder(folderOf(component));
}

/** Removes the folder of a workflow's run. */
export function forgetTmp(name: string): void {
  removeFolder(folderOfRun(name));
}

function removeFolder(own: string): void {
  // It goes with the worker anyway.
  if (created.delete(own)) remove(own, { recursive: true }).catch(() => {});
}

function folderOfCode(entry: string): string {
  return entry.startsWith("file:") ? fileURLToPath(new URL(".", entry)) : "";
}

/** Text in which the folders are called `/tmp`. */
export function asTmp(text: string): string {
  if (realFolders === undefined || !text.includes(worker)) return text;
  return text.replace(realFolders, "/tmp");
}

/** The path for a component whose `/tmp` is `own`. */
export function mapped(path: unknown, own: string, kept: string[]): unknown {
  const text = path instanceof URL && path.protocol === "file:"
    ? fileURLToPath(path)
    : path;
  if (typeof text !== "string") return path;
  if (text === "/tmp") return own;
  // In a test everything lives under /tmp.
  const isElsewhere = !text.startsWith("/tmp/") || text === own ||
    text.startsWith(`${own}/`) || kept.some((folder) => text.startsWith(folder));
  return isElsewhere ? path : own + text.slice("/tmp".length);
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
