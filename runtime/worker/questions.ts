/**
 * Questions of a workflow's blocks: values and conditions, without any component.
 *
 * Responsible for one answer to each, in order. Not responsible for what a block does
 * with them.
 */

import { holds } from "./conditions.ts";
import { inPlace } from "./failure.ts";
import { ownFields } from "./intrinsics.ts";
import { toJson } from "./json.ts";
import { withLazyValues } from "./lazy_steps.ts";
import { fillIn } from "./templates.ts";
import type { Condition, EvaluateInput, Question, Steps } from "./workflow_input.ts";

/** The answers as a JSON array. */
export async function answersTo(event: unknown): Promise<string> {
  const { steps: given, lazy, ask } = ownFields<EvaluateInput>(event);
  const steps = withLazyValues(given, lazy);
  let answers = "";
  for (let i = 0; i < ask.length; i++) {
    const question = ownFields<Question>(ask[i]);
    const place = question.name ?? undefined;
    const answer = await inPlace(place, () => answerTo(question, steps));
    answers += i === 0 ? answer : `,${answer}`;
  }
  return `[${answers}]`;
}

async function answerTo(question: Question, steps: Steps): Promise<string> {
  const { condition, first } = question;
  if (condition) return `${await holds(condition, steps)}`;
  if (first) return `${await firstOf(first, steps)}`;
  const awaiting = fillIn(question, "value", steps);
  if (awaiting !== undefined) await awaiting;
  return toJson(question.value, "the value") ?? "null";
}

/** The index of the first that holds; the others are not evaluated. */
async function firstOf(
  conditions: (Condition | null)[],
  steps: Steps,
): Promise<number | null> {
  for (let i = 0; i < conditions.length; i++) {
    const condition = conditions[i] ?? null;
    if (condition === null || await holds(condition, steps)) return i;
  }
  return null;
}
