/**
 * Patterns as people enter them: `/source/flags` is a regular expression, other text is
 * itself.
 *
 * Not responsible for matching.
 */

import { configurationError } from "../configuration_error.ts";

export function isPattern(text: string): boolean {
  return text.startsWith("/");
}

/** The regular expression of `/source/flags`. */
export function patternOf(text: string, addedFlags = ""): RegExp {
  const end = text.lastIndexOf("/");
  const flags = text.slice(end + 1);
  if (end < 1 || !/^[a-z]*$/.test(flags)) {
    throw configurationError(
      `\`${text}\` is not a regular expression: write it as /expression/flags`,
    );
  }
  return compiled(text.slice(1, end), union(flags, addedFlags));
}

/** The regular expression of either form, for finding every match. */
export function searchPatternOf(text: string): RegExp {
  return isPattern(text) ? patternOf(text, "g") : compiled(text, "g");
}

export function compiled(source: string, flags = ""): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw configurationError((error as Error).message);
  }
}

function union(flags: string, added: string): string {
  return [...new Set(flags + added)].join("");
}
