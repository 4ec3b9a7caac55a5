/**
 * Lengths of time: in the short form that people enter, and in words.
 *
 * A year has 365 days here. Knows no calendar: months are not of one length.
 */

import { configurationError } from "../configuration_error.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Longest first. */
const UNITS: [name: string, milliseconds: number][] = [
  ["year", 365 * DAY],
  ["week", 7 * DAY],
  ["day", DAY],
  ["hour", HOUR],
  ["minute", MINUTE],
  ["second", SECOND],
  ["millisecond", 1],
];

const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/gi;
const NOT_OF_ONE_LENGTH = /^(mo|ms|milli)/i;

/** The milliseconds of `1d 12h`; of a longer word the first letter counts. */
export function millisecondsOf(text: string): number {
  const parts = Array.from(text.matchAll(PART));
  if (parts.length === 0) throw unknown(text);
  return parts.reduce((sum, [, amount, word]) => {
    const first = word![0]!.toLowerCase();
    const unit = UNITS.find(([name]) => name.startsWith(first));
    if (unit === undefined || NOT_OF_ONE_LENGTH.test(word!)) throw unknown(text);
    return sum + Number(amount) * unit[1];
  }, 0);
}

/** `1 day, 2 hours`; `equal` for none. */
export function inWords(milliseconds: number): string {
  let left = milliseconds;
  const words: string[] = [];
  for (const [name, length] of UNITS) {
    const amount = Math.floor(left / length);
    left -= amount * length;
    if (amount > 0) words.push(`${amount} ${name}${amount === 1 ? "" : "s"}`);
  }
  return words.length > 0 ? words.join(", ") : "equal";
}

function unknown(text: string): Error {
  return configurationError(
    `\`${text}\` is not a duration: write 1s, 1m, 1h, 1d, 1w or 1y, or several of them`,
  );
}
