/**
 * Any value that a component can throw, as the error that the host stores and shows.
 *
 * Responsible for a name, a message and a stack in the component's own terms: paths
 * relative to its folder, none of the runtime's frames. Not responsible for deciding
 * whether something failed.
 */

import { withoutRequest } from "./axios_shapes.ts";
import { inspect } from "./intrinsics.ts";
import type { WireError } from "./protocol.ts";
import { withoutAdvice } from "./refusals.ts";
import { withWrittenPositions } from "./source_positions.ts";
import { asTmp } from "./tmp_paths.ts";

const RUNTIME_FOLDER = new URL(".", import.meta.url).href;

/** The beginning of the names of modules that components share: those of packages. */
const SHARED_MODULE = new RegExp(
  `(file://)?${
    RegExp.escape(new URL("../../shared/", import.meta.url).pathname)
  }[0-9a-f]{64}/`,
  "g",
);

/** A stack frame in a module that the runtime has built in. */
const BUILT_IN_FRAME = /^\s+at (?:async )?(?:.*\()?(?:ext|node):/;

/** Stack frames of the runtime: nobody can change what is there. */
function isRuntimeFrame(line: string): boolean {
  return line.includes(RUNTIME_FOLDER) || BUILT_IN_FRAME.test(line);
}

/** The message of clients that tell the reason in the cause alone. */
const WITHOUT_REASON = "fetch failed";

/** The number of causes, or aggregated errors, in a stack. */
const MAX_REASONS = 5;

// The module loader colours its messages.
// deno-lint-ignore no-control-regex
const COLOURS = /\x1b\[[0-9;]*m/g;

/** Something thrown, and the place in the workflow whose evaluation threw it. */
class PlacedFailure {
  readonly place: string;
  readonly thrown: unknown;

  constructor(place: string, thrown: unknown) {
    this.place = place;
    this.thrown = thrown;
  }
}

/** Names the place in the messages of errors that the body throws. */
export async function inPlace<Result>(
  place: string | undefined,
  body: () => Promise<Result>,
): Promise<Result> {
  try {
    return await body();
  } catch (thrown) {
    throw place === undefined ? thrown : new PlacedFailure(place, thrown);
  }
}

export class FailureFormat {
  #prefixes: string[] = [];

  /** From now on stacks are shown relative to the folder of this module. */
  setEntry(entry: string): void {
    const folder = new URL(".", entry);
    this.#prefixes = [folder.href];
    if (folder.protocol === "file:") {
      this.#prefixes.push(decodeURIComponent(folder.pathname));
    }
  }

  describe(thrown: unknown): WireError {
    try {
      return this.#describe(thrown);
    } catch {
      // Proxies and throwing getters: the run still failed, and needs an error.
      return { name: "Error", message: "a value that cannot be read", stack: "" };
    }
  }

  /** Text as its author knows it: own paths relative, no frames of the runtime. */
  clean(text: string): string {
    if (text.includes("\n    at ")) {
      text = text.split("\n").filter((line) => !isRuntimeFrame(line)).join("\n");
    }
    text = withoutAdvice(text);
    if (text.includes("\x1b[")) text = text.replace(COLOURS, "");
    text = withWrittenPositions(text);
    text = asTmp(text).replace(SHARED_MODULE, "");
    for (const prefix of this.#prefixes) {
      if (text.includes(prefix)) text = text.replaceAll(prefix, "");
    }
    return text;
  }

  #describe(thrown: unknown): WireError {
    if (thrown instanceof PlacedFailure) {
      return placed(this.describe(thrown.thrown), thrown.place);
    }
    if (typeof thrown !== "object" || thrown === null) {
      const message = typeof thrown === "string"
        ? thrown
        : `${inspect(thrown)} was thrown`;
      return { name: "Error", message, stack: "" };
    }
    const { name, message, stack, code, exposeStack } = thrown as Record<
      string,
      unknown
    >;
    const text = typeof message === "string"
      ? withReason(message, (thrown as { cause?: unknown }).cause)
      : shortForm(thrown);
    const error: WireError = {
      name: typeof name === "string" && name !== "" ? name : "Error",
      message: this.clean(text),
      // A ConfigurationError tells the user what to change; its stack would not help.
      stack: typeof stack === "string" && exposeStack !== false
        ? this.clean(stack + reasonsOf(thrown))
        : "",
    };
    if (typeof code === "string" || Number.isFinite(code)) {
      error.code = code as string | number;
    }
    const status = statusOf(thrown) ?? statusOf((thrown as Error).cause);
    if (status !== undefined) error.status = status;
    return error;
  }
}

/** The message with the reason, where its first line would be all that lists show, and says nothing. */
function withReason(message: string, cause: unknown): string {
  if (message !== WITHOUT_REASON || typeof cause !== "object" || cause === null) {
    return message;
  }
  const { message: of, code } = cause as { message?: unknown; code?: unknown };
  const reason = [of, code].find((text) => typeof text === "string" && text !== "");
  return reason === undefined ? message : `${message}: ${reason}`;
}

function placed(error: WireError, place: string): WireError {
  const { message, stack } = error;
  // The stack was written before the reason was put behind the message.
  const written = message.startsWith(`${WITHOUT_REASON}: `) && !stack.includes(message)
    ? WITHOUT_REASON
    : message;
  const at = written === "" ? -1 : stack.indexOf(written);
  return {
    ...error,
    message: `${place}: ${message}`,
    stack: at < 0 ? stack : `${stack.slice(0, at)}${place}: ${stack.slice(at)}`,
  };
}

/** The status of the HTTP response that an error is about, as the usual clients put it there. */
function statusOf(thrown: unknown): number | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  const { response, status, statusCode } = thrown as Record<string, unknown>;
  const ofResponse = (response as Record<string, unknown> | null | undefined)?.status;
  return [ofResponse, status, statusCode].find(isStatus);
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 100 && (value as number) < 600;
}

/** The causes of an error: its cause, that one's cause, or its aggregated errors. */
function reasonsOf(error: object): string {
  let text = "";
  const { errors } = error as { errors?: unknown };
  if (Array.isArray(errors)) {
    for (const each of errors.slice(0, MAX_REASONS)) {
      text += `\nOne of: ${lineOf(each)}`;
    }
  }
  let { cause } = error as { cause?: unknown };
  for (let i = 0; i < MAX_REASONS && cause !== undefined && cause !== null; i++) {
    text += `\nCaused by: ${lineOf(cause)}`;
    cause = (cause as { cause?: unknown }).cause;
  }
  return text;
}

function lineOf(value: unknown): string {
  const { stack } = Object(value);
  return typeof stack === "string" ? stack : shortForm(value);
}

function shortForm(value: unknown): string {
  return inspect(withoutRequest(value), { depth: 4, colors: false });
}
