/**
 * Numbers as text: digits with marks between groups and before the decimals.
 *
 * Never rounds or pads. Not responsible for currencies (`currencies.ts`).
 */

import { configurationError } from "../configuration_error.ts";

export interface Marks {
  group: string;
  decimal: string;
}

export interface Digits {
  sign: string;
  integer: string;
  decimals?: string | undefined;
}

/** The digits of a text whose decimals are behind this mark. */
export function digitsOf(text: string, decimalMark: string): Digits {
  const [whole = "", decimals, ...others] = text.trim().split(decimalMark);
  if (others.length > 0) {
    throw configurationError(
      `\`${text}\` has more than one \`${decimalMark}\`; choose the input's decimal mark`,
    );
  }
  // Marks between groups, whichever they are.
  const integer = whole.replace(/(?<=\d)[\s.,'’_](?=\d)/g, "");
  const found = /^([+-]?)(\d*)$/.exec(integer);
  if (found === null || !/^\d*$/.test(decimals ?? "") || !/\d/.test(text)) {
    throw configurationError(`\`${text}\` is not a number`);
  }
  return { sign: found[1]!, integer: found[2]!, decimals };
}

export function written({ sign, integer, decimals }: Digits, marks: Marks): string {
  const grouped = integer.replace(/\B(?=(\d{3})+$)/g, () => marks.group);
  return `${sign}${grouped}${decimals ? marks.decimal + decimals : ""}`;
}
