/**
 * Segments of a text between separators, and which of them is wanted.
 *
 * Not responsible for reading props.
 */

import { isPattern, patternOf } from "./patterns.ts";

/** All segments; its negative is the first, which stored steps do not write as 0. */
const ALL = 999;

export const SEGMENT_OPTIONS = [
  { label: "First", value: -ALL },
  { label: "Second", value: 1 },
  { label: "Last", value: -1 },
  { label: "Second to last", value: -2 },
  { label: "All", value: ALL },
];

/**
 * The segments; just the text if there is no separator in it. A pattern is matched once:
 * the text that it matches first is the separator.
 */
export function segmentsOf(text: string, separator: string): string[] {
  const found = isPattern(separator) ? patternOf(separator).exec(text)?.[0] : separator;
  return found === undefined ? [text] : text.split(found);
}

/** The segment of the index, which counts from the end if it is negative. */
export function chosen(
  segments: string[],
  index: number,
): string | string[] | undefined {
  if (index === ALL) return segments;
  return segments.at(index === -ALL ? 0 : index);
}
