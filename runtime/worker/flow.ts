/**
 * `$.flow` of a workflow's step: its end, its pauses, its time, other workflows.
 *
 * Responsible for the arguments, and for the URLs that end a pause. Not responsible for
 * pausing, which is the host's once the code has come to its end, nor for time limits.
 */

import type { Invocation } from "./invocation.ts";
import { toJson } from "./json.ts";
import { kindOf } from "./kinds.ts";
import type { Pause } from "./protocol.ts";
import type { StepEffects } from "./step_effects.ts";
import type { StepInput } from "./workflow_input.ts";

const DAY_MS = 86_400_000;
const DELAY_MAX_MS = 365 * DAY_MS;
/** A longer time means that nothing but a URL ends the pause. */
const WAIT_MAX_MS = 36_525 * DAY_MS;
const RETRIES = 10;
const RETRIES_MAX = 2 ** 32 - 1;

export function createFlow(
  invocation: Invocation,
  step: StepEffects,
  input: Pick<StepInput, "urls" | "is_test" | "deadline" | "context">,
): Record<string, unknown> {
  const { urls, is_test: isTest } = input;
  const pause = (
    op: Pause["op"],
    after_ms: number,
    given: unknown,
    retries?: number,
  ) => {
    const context = toJson(given, `$.flow.${op}: the context`);
    if (isTest === true) invocation.exit(endOfTest(op, after_ms));
    else step.pause({ op, after_ms, context, max_retries: retries });
  };
  const pauseUrls = () => ({ resume_url: urls.resume, cancel_url: urls.cancel });
  return {
    exit: (reason?: unknown) => invocation.exit(reason),
    delay: (ms: unknown, context?: unknown) => {
      const after = milliseconds("$.flow.delay: the delay", ms, 1, DELAY_MAX_MS);
      pause("delay", after, context);
      return pauseUrls();
    },
    suspend: (ms?: unknown, context?: unknown) => {
      pause("suspend", ends("$.flow.suspend: the timeout", ms ?? DAY_MS), context);
      return pauseUrls();
    },
    rerun: (ms: unknown, context?: unknown, maxRetries?: unknown) => {
      const after = ends("$.flow.rerun: the delay", ms);
      pause("rerun", after, context, retryCount(maxRetries ?? RETRIES));
      return { ...pauseUrls(), rerun_url: urls.rerun };
    },
    trigger: (workflow: unknown, payload?: unknown, options?: unknown) =>
      trigger(step, workflow, payload, options),
    refreshTimeout: () => refreshTimeout(step, input),
  };
}

/** A text that says until when the step may run from now on; `$.context.deadline` is that moment too. */
function refreshTimeout(
  step: StepEffects,
  { deadline, context }: Pick<StepInput, "deadline" | "context">,
): string {
  const elapsedMs = step.refreshTimeout();
  if (elapsedMs === undefined) return "the step has ended";
  const refreshed = Math.floor(deadline.first + elapsedMs);
  const until = Math.min(refreshed, deadline.last);
  context.deadline = until;
  const text = `the step may run until ${new Date(until).toISOString()}`;
  return until < deadline.last ? text : `${text}, which is the latest`;
}

/** The result of the other workflow's run, once that has ended. */
async function trigger(
  step: StepEffects,
  workflow: unknown,
  payload: unknown,
  options: unknown,
): Promise<unknown> {
  if (typeof workflow !== "string" || workflow === "") {
    throw new TypeError(
      `$.flow.trigger: the first argument must be a workflow's id, not ${
        kindOf(workflow)
      }`,
    );
  }
  const { result_type } = Object(options ?? {});
  const asked = { __proto__: null, workflow, payload: payload ?? null, result_type };
  const answer = await step.ask("workflows", "trigger", asked);
  if (answer.error === undefined) return answer.value;
  throw new Error(`$.flow.trigger: ${answer.error}`);
}

function endOfTest(op: Pause["op"], afterMs: number): string {
  return `the test ends here: $.flow.${op} pauses a run for up to ${afterMs} ms`;
}

function ends(name: string, ms: unknown): number {
  return Math.min(milliseconds(name, ms, 0, Number.MAX_VALUE), WAIT_MAX_MS);
}

function milliseconds(name: string, given: unknown, min: number, max: number): number {
  const ms = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  if (typeof ms === "number" && ms >= min && ms <= max) return Math.ceil(ms);
  const range = max === Number.MAX_VALUE ? `at least ${min}` : `${min} to ${max}`;
  throw new RangeError(
    `${name} must be a finite number of milliseconds, ${range}, not ${kindOf(given)}`,
  );
}

function retryCount(given: unknown): number {
  if (Number.isInteger(given) && (given as number) >= 0) {
    return Math.min(given as number, RETRIES_MAX);
  }
  throw new RangeError(
    `$.flow.rerun: maxRetries must be an integer, at least 0, not ${kindOf(given)}`,
  );
}
