/**
 * The process environment that component code sees.
 *
 * Each component has its own variables: those of the process at its start, those
 * that the host gives it, and those that it sets; a workflow's code also has the trace
 * of its run. Native code, such as the clock's time zone,
 * knows one environment only, in which the last write of any component counts. Also
 * responsible for the CommonJS names that bundled packages refer to. Not responsible
 * for credentials: those come with an invocation.
 */

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { OwnMap } from "./intrinsics.ts";
import { currentInvocation, perComponent } from "./scope.ts";

interface ModuleNames {
  __filename?: string | undefined;
  __dirname?: string | undefined;
}

/** The one variable that differs between runs of the same code at the same time. */
const TRACE_ID = "PIPEDREAM_TRACE_ID";

function ofRun(name: string): string | undefined {
  return name === TRACE_ID ? currentInvocation()?.traceId : undefined;
}

let inherited: [name: string, value: string][] = [];

const variables = perComponent(() => {
  const own = new OwnMap<string, string>();
  for (const [name, value] of inherited) own.set(name, value);
  return own;
});
const moduleNames = perComponent((): ModuleNames => ({}));

/** Keeps the environments of components apart; `process.env` goes through `Deno.env`. */
export function installEnvironment(): void {
  const { env } = Deno;
  for (const name of Object.keys(env.toObject())) {
    if (isHostVariable(name)) env.delete(name);
  }
  inherited = Object.entries(env.toObject());
  const { set, delete: remove } = env;
  Object.assign(env, {
    get: (name: string) => ofRun(String(name)) ?? variables().get(String(name)),
    has: (name: string) =>
      ofRun(String(name)) !== undefined || variables().has(String(name)),
    toObject: () => {
      const own = asObject(variables());
      const traceId = ofRun(TRACE_ID);
      if (traceId !== undefined) own[TRACE_ID] = traceId;
      return own;
    },
    set: (name: string, value: string) => {
      set.call(env, name, value);
      variables().set(name, value);
    },
    delete: (name: string) => {
      remove.call(env, name);
      variables().delete(name);
    },
  });
  restoreProto();
  defineModuleName("__filename");
  defineModuleName("__dirname");
}

/** Gives the component whose code is running its variables and names. */
export function enterEnvironment(entry: string, given: Record<string, string>): void {
  const own = variables();
  for (const [name, value] of Object.entries(given)) own.set(name, value);
  const names = moduleNames();
  names.__filename = entry.startsWith("file:") ? fileURLToPath(entry) : entry;
  names.__dirname = dirname(names.__filename);
}

function asObject(own: OwnMap<string, string>): Record<string, string> {
  const object: Record<string, string> = {};
  own.forEach((value, name) => object[name] = value);
  return object;
}

/**
 * Variables for starting the runtime are hidden from the component; those for certificates
 * have to stay, because they are read at the first connection.
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

function defineModuleName(name: keyof ModuleNames): void {
  Object.defineProperty(globalThis, name, {
    get: () => moduleNames()[name],
    set: (value) => moduleNames()[name] = value,
    configurable: true,
  });
}
