/**
 * Matches of a pattern in a text, and the first piece of a text that looks like
 * something.
 *
 * Not responsible for the patterns themselves.
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { searchPatternOf } from "./patterns.ts";

export interface Match {
  match: string;
  startPosition: number;
  endPosition: number;
}

export function matchesIn(text: string, pattern: string): Match[] {
  return Array.from(text.matchAll(searchPatternOf(pattern)), ({ 0: match, index }) => ({
    match,
    startPosition: index,
    endPosition: index + match.length,
  }));
}

/** The first match in the step's input, which the summary names. */
export function extract(
  input: unknown,
  { $ }: StepArguments,
  kind: string,
  pattern: RegExp,
): string | undefined {
  const found = pattern.exec(textOf("input", input))?.[0];
  $.export(
    "$summary",
    found ? `Found the ${kind} "${found}"` : `There is no ${kind} in the text`,
  );
  return found;
}
