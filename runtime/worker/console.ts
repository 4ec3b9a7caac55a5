/**
 * `console` for component code: every call becomes one log line of its run.
 *
 * Responsible for turning arguments into text without colours. Not responsible for
 * attributing or limiting the lines (`session.ts`, `log_budget.ts`).
 */

import { formatWithOptions } from "node:util";
import { withoutRequest } from "./axios_shapes.ts";
import { inspect } from "./intrinsics.ts";
import type { LogLevel } from "./protocol.ts";
import { perComponent } from "./scope.ts";

export type WriteLog = (level: LogLevel, text: string) => void;

const INSPECT_OPTIONS = { depth: 4, colors: false } as const;
const now = performance.now.bind(performance);

function format(given: unknown[]): string {
  const args = given.map(withoutRequest);
  const first = args[0];
  if (typeof first === "string" && args.length > 1 && first.includes("%")) {
    return formatWithOptions(INSPECT_OPTIONS, ...args);
  }
  return args.map((arg) => typeof arg === "string" ? arg : inspectSafely(arg)).join(
    " ",
  );
}

function inspectSafely(value: unknown): string {
  try {
    return inspect(value, INSPECT_OPTIONS);
  } catch (error) {
    return `[a value that cannot be shown: ${
      error instanceof Error ? error.message : ""
    }]`;
  }
}

/** Changes the existing object, since libraries keep references to it. */
export function installConsole(write: WriteLog): void {
  const at = (level: LogLevel) => (...args: unknown[]) => write(level, format(args));
  const ignored = () => {};
  Object.assign(console, {
    log: at("info"),
    info: at("info"),
    debug: at("debug"),
    warn: at("warn"),
    error: at("error"),
    group: at("info"),
    groupCollapsed: at("info"),
    groupEnd: ignored,
    clear: ignored,
    dirxml: at("info"),
    table: at("info"),
    dir: (value: unknown) => write("info", inspectSafely(withoutRequest(value))),
    trace: (...args: unknown[]) => write("error", traceOf(format(args))),
    assert: (condition: unknown, ...args: unknown[]) => {
      if (!condition) write("error", format(["Assertion failed", ...args]));
    },
    ...counters(write),
    ...stopwatches(write),
  });
}

function traceOf(message: string): string {
  const holder = { name: "Trace", message, stack: "" };
  Error.captureStackTrace(holder, traceOf);
  return holder.stack;
}

function counters(write: WriteLog) {
  const counts = perComponent(() => new Map<string, number>());
  return {
    count: (label = "default") => {
      const count = (counts().get(String(label)) ?? 0) + 1;
      counts().set(String(label), count);
      write("info", `${label}: ${count}`);
    },
    countReset: (label = "default") => void counts().delete(String(label)),
  };
}

function stopwatches(write: WriteLog) {
  const started = perComponent(() => new Map<string, number>());
  const report = (label: unknown, args: unknown[]) => {
    const since = started().get(String(label));
    if (since === undefined) return write("warn", `Timer '${label}' does not exist`);
    const elapsed = `${label}: ${(now() - since).toFixed(2)}ms`;
    write("info", args.length === 0 ? elapsed : `${elapsed} ${format(args)}`);
  };
  return {
    time: (label = "default") => void started().set(String(label), now()),
    timeLog: (label: unknown = "default", ...args: unknown[]) => report(label, args),
    timeEnd: (label: unknown = "default") => {
      report(label, []);
      started().delete(String(label));
    },
  };
}
