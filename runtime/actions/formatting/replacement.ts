/**
 * Replacing every instance of a text or pattern.
 *
 * Not responsible for what the instances are replaced with.
 */

import { configurationError } from "../configuration_error.ts";
import { isPattern, patternOf } from "./patterns.ts";

/** Replacements that create further instances are bounded. */
const MAX_REPLACEMENTS = 10_000;

export interface Replaced {
  text: string;
  /** Instances in the original text. */
  count: number;
}

export function replaceAll(
  text: string,
  search: string,
  replacement: string,
): Replaced {
  if (isPattern(search)) {
    const pattern = patternOf(search, "g");
    const count = Array.from(text.matchAll(pattern)).length;
    return { text: text.replace(pattern, replacement), count };
  }
  if (search === "") throw configurationError("`findText` is empty: enter it");
  const count = instances(text, search);
  const replaced = text.replaceAll(search, replacement);
  return { text: untilNoneIsLeft(replaced, search, replacement), count };
}

/** Instances that come about by replacing are replaced as well: two spaces by one. */
function untilNoneIsLeft(text: string, search: string, replacement: string): string {
  if (replacement.includes(search) || replacement.includes("$&")) return text;
  let replacements = 0;
  while (text.includes(search)) {
    replacements += instances(text, search);
    if (replacements > MAX_REPLACEMENTS) {
      throw new Error(
        `replacing "${search}" by "${replacement}" creates it again and again; ` +
          "use a regular expression",
      );
    }
    text = text.replaceAll(search, replacement);
  }
  return text;
}

function instances(text: string, search: string): number {
  return text.split(search).length - 1;
}
