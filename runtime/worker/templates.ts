/**
 * Template values: JSON in which some texts are put together from expressions.
 *
 * Evaluated in place, because the frame that brought them is read once per invocation.
 * Not responsible for the expressions themselves (`expressions.ts`).
 */

import { evaluate, type Expression, expressionOf } from "./expressions.ts";
import { hasOwn, isArray, objectKeys } from "./intrinsics.ts";
import { textOf } from "./text_forms.ts";
import type { Part, Steps } from "./workflow_input.ts";

type Fields = Record<string, unknown>;

/** A value that awaits something, and its place. */
interface Awaiting {
  holder: Fields;
  key: string;
  parts: Part[];
}

/**
 * Replaces the template at `holder[key]` by its value. The promise is for those only in
 * which an expression awaits something; these are evaluated last, in their order.
 */
export function fillIn(
  holder: object,
  key: string,
  steps: Steps,
): Promise<void> | undefined {
  const awaiting: Awaiting[] = [];
  fill(holder as Fields, key, steps, awaiting);
  return awaiting.length === 0 ? undefined : finish(awaiting, steps);
}

function fill(holder: Fields, key: string, steps: Steps, awaiting: Awaiting[]): void {
  const value = holder[key];
  if (typeof value !== "object" || value === null) return;
  let fields = value as Fields;
  if (hasOwn(value, "$template")) {
    const parts = fields.$template as Part[];
    if (awaitsSomething(parts)) awaiting[awaiting.length] = { holder, key, parts };
    else holder[key] = joined(parts, steps);
    return;
  }
  if (isArray(value)) {
    for (let i = 0; i < value.length; i++) fill(fields, `${i}`, steps, awaiting);
    return;
  }
  if (hasOwn(value, "$literal")) {
    fields = fields.$literal as Fields;
    holder[key] = fields;
  }
  const keys = objectKeys(fields);
  for (let i = 0; i < keys.length; i++) fill(fields, keys[i]!, steps, awaiting);
}

async function finish(awaiting: Awaiting[], steps: Steps): Promise<void> {
  for (let i = 0; i < awaiting.length; i++) {
    const { holder, key, parts } = awaiting[i]!;
    const values: unknown[] = [];
    for (let at = 0; at < parts.length; at++) {
      const expression = expressionIn(parts[at]!);
      const value = expression && evaluate(expression, steps);
      // Only text with `await` waits: a promise may also be the value itself.
      values[at] = expression?.isAsync ? await value : value;
    }
    holder[key] = put(parts, values);
  }
}

function joined(parts: Part[], steps: Steps): unknown {
  const values: unknown[] = [];
  for (let at = 0; at < parts.length; at++) {
    const expression = expressionIn(parts[at]!);
    if (expression !== undefined) values[at] = evaluate(expression, steps);
  }
  return put(parts, values);
}

/** One expression alone keeps the type of its value. */
function put(parts: Part[], values: unknown[]): unknown {
  if (parts.length === 1 && typeof parts[0] !== "string") return values[0];
  let text = "";
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!;
    text += typeof part === "string" ? part : textOf(values[at]);
  }
  return text;
}

function expressionIn(part: Part): Expression | undefined {
  return typeof part === "string" ? undefined : expressionOf(part.expression);
}

function awaitsSomething(parts: Part[]): boolean {
  for (let at = 0; at < parts.length; at++) {
    if (expressionIn(parts[at]!)?.isAsync) return true;
  }
  return false;
}
