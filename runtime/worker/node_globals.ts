/**
 * The global object as Node has it.
 *
 * Responsible for removing globals that only browsers and Deno have: packages take a
 * worker with a `self` for a browser, and storage per origin (`localStorage`, `caches`)
 * would be shared by all tenants. Not responsible for `Deno` and the global
 * event listeners, which Deno's own Node layer looks up at every call.
 */

import process from "node:process";
import url from "node:url";

const OF_BROWSERS = [
  "Cache",
  "CacheStorage",
  "FileReader",
  "ImageBitmap",
  "ImageBitmapRenderingContext",
  "ImageData",
  "Location",
  "Lock",
  "LockManager",
  "NavigatorUAData",
  "OffscreenCanvas",
  "ProgressEvent",
  "PromiseRejectionEvent",
  "Storage",
  "Window",
  "Worker",
  "alert",
  "caches",
  "close",
  "closed",
  "confirm",
  "createImageBitmap",
  "localStorage",
  "location",
  "name",
  "onbeforeunload",
  "onerror",
  "onload",
  "onunhandledrejection",
  "onunload",
  "prompt",
  "reportError",
  "self",
  "sessionStorage",
];

/** Prefixes of whole families: graphics, and geometry for it. */
const FAMILIES = /^(GPU|DOM(Matrix|Point|Quad|Rect))/;

export function installNodeGlobals(): void {
  const families = Object.getOwnPropertyNames(globalThis)
    .filter((name) => FAMILIES.test(name));
  for (const name of [...OF_BROWSERS, ...families]) {
    Reflect.deleteProperty(globalThis, name);
  }
  Object.defineProperty(globalThis, Symbol.toStringTag, {
    value: "global",
    configurable: true,
  });
  installNavigator();
  installUrl();
}

/** `navigator.gpu` would load the machine's graphics driver. */
function installNavigator(): void {
  const prototype = Object.getPrototypeOf(navigator);
  for (const name of ["gpu", "userAgentData"]) Reflect.deleteProperty(prototype, name);
  const major = process.versions.node.split(".")[0];
  Object.defineProperty(prototype, "userAgent", {
    get: () => `Node.js/${major}`,
    enumerable: true,
    configurable: true,
  });
}

/** Text that is not a URL is refused with Node's message, which packages compare. */
function installUrl(): void {
  const Native = globalThis.URL;
  // Without a prototype: a component may add traps to all objects.
  const handler = Object.assign(Object.create(null), {
    construct(target: typeof URL, args: unknown[], newTarget: unknown): URL {
      try {
        const constructed = newTarget === NodeUrl ? target : newTarget as typeof URL;
        return Reflect.construct(target, args, constructed);
      } catch (thrown) {
        throw asNode(thrown, args);
      }
    },
  });
  const NodeUrl: typeof URL = new Proxy(Native, handler);
  Native.prototype.constructor = NodeUrl;
  globalThis.URL = NodeUrl;
  url.URL = NodeUrl;
}

function asNode(thrown: unknown, [input, base]: unknown[]): unknown {
  const isOfUrl = thrown instanceof TypeError &&
    thrown.message.startsWith("Invalid URL");
  if (!isOfUrl) return thrown;
  const error = Object.assign(new TypeError("Invalid URL"), {
    code: "ERR_INVALID_URL",
    input: String(input),
  });
  return base === undefined ? error : Object.assign(error, { base: String(base) });
}
