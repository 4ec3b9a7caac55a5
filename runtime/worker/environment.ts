/**
 * The process environment that component code sees.
 *
 * Responsible for the variables the host gives and for the CommonJS names that bundled
 * packages refer to. Not responsible for credentials: those come with an invocation.
 */

import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

export function enterEnvironment(
  entry: string,
  variables: Record<string, string>,
): void {
  for (const name of Object.keys(Deno.env.toObject())) {
    if (isHostVariable(name)) Deno.env.delete(name);
  }
  restoreProto();
  for (const [name, value] of Object.entries(variables)) process.env[name] = value;
  const file = entry.startsWith("file:") ? fileURLToPath(entry) : entry;
  define("__filename", file);
  define("__dirname", dirname(file));
}

/**
 * How the host started the runtime is no business of the component; certificates are
 * read when the first connection is made and have to stay.
 */
function isHostVariable(name: string): boolean {
  if (name === "DENO_CERT" || name === "DENO_TLS_CA_STORE") return false;
  return name === "PATH" || name.startsWith("DENO_");
}

/** Deno disables an accessor that packages written for Node still use. */
function restoreProto(): void {
  const probe = {} as Record<"__proto__", unknown>;
  if (probe["__proto__"] === Object.prototype) return;
  Object.defineProperty(Object.prototype, "__proto__", {
    get(this: unknown) {
      return Object.getPrototypeOf(this);
    },
    set(this: unknown, prototype: unknown) {
      const isTarget = typeof this === "object" && this !== null ||
        typeof this === "function";
      const isPrototype = typeof prototype === "object" ||
        typeof prototype === "function";
      if (isTarget && isPrototype) {
        Object.setPrototypeOf(this, prototype as object | null);
      }
    },
    configurable: true,
  });
}

function define(name: string, value: string): void {
  Object.defineProperty(globalThis, name, {
    value,
    writable: true,
    configurable: true,
  });
}
