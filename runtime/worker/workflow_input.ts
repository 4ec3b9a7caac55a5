/**
 * The events of steps and evaluations: what the host gives to the code of workflows.
 *
 * Responsible for naming their fields. Not responsible for evaluating anything.
 */

import { ownFields } from "./intrinsics.ts";
import type { WorkflowPlace } from "./invocation.ts";
import type { Entry } from "./protocol.ts";

/** JSON in which a text with expressions is `{"$template": parts}`. */
export type TemplateValue = unknown;

/** Plain text, or an expression. */
export type Part = string | { expression: string };

export type Condition =
  | { expression: string }
  | { and: Condition[] }
  | { or: Condition[] }
  | { not: Condition }
  | { op: string; a?: TemplateValue; b?: TemplateValue };

export type Steps = Record<string, unknown>;

/** The part of the inputs that expressions see or run in. */
export interface WorkflowInput {
  /** Exports and results by namespace, `trigger` among them. */
  steps: Steps;
  /** Large values: `<namespace>` or `<namespace>.<export>` → path of a JSON file. */
  lazy?: Record<string, string>;
  context: Record<string, unknown>;
  /** The folder that is `/tmp`: shared by the steps of one run. */
  tmp?: string;
  /** Only in tests of workflows. */
  simulated?: SimulatedInput;
}

export interface SimulatedInput {
  /** The time, epoch milliseconds. */
  now_ms: number;
  /** Names the call of the step to the network of the test. */
  call?: string;
}

export interface WaitUrls {
  resume: string;
  cancel: string;
  rerun: string;
}

export interface StepInput extends WorkflowInput {
  if?: Condition | null;
  /** As the file has them, compiled. */
  props?: Record<string, TemplateValue> | null;
  urls: WaitUrls;
  /** The time limit with and without refreshing, both in epoch milliseconds. */
  deadline: { first: number; last: number };
  /** Whether pauses end the run instead, as in tests. */
  is_test?: boolean;
  /** About the former try of a step that failed. */
  attempt?: Record<string, unknown> | null;
}

export interface Question {
  /** The place of the question, for errors. */
  name?: string | null;
  value?: TemplateValue;
  condition?: Condition | null;
  /** Null holds always. */
  first?: (Condition | null)[] | null;
}

export interface EvaluateInput extends WorkflowInput {
  ask: Question[];
}

/** The place in a workflow's run of code that is invoked so; undefined for other code. */
export function placeOf(entry: Entry, event: unknown): WorkflowPlace | undefined {
  const isStep = entry.kind === "step";
  if (!isStep && entry.kind !== "evaluate") return undefined;
  const { tmp, context, simulated } = ownFields<Partial<WorkflowInput>>(event);
  const { trace_id } = ownFields<Record<string, unknown>>(context);
  const traceId = typeof trace_id === "string" ? trace_id : undefined;
  const { now_ms, call } = ownFields<Partial<SimulatedInput>>(simulated);
  return { isStep, tmp, traceId, nowMs: now_ms, call };
}
