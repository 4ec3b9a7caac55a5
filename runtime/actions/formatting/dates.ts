/**
 * Dates as text: the named formats of the date actions, and any other text that people
 * write dates in.
 *
 * Everything without a time zone is UTC, wherever the node runs. Not responsible for
 * other time zones.
 */

import Sugar from "npm:sugar-date@2.0.6";
import { configurationError } from "../configuration_error.ts";
import { textOf } from "../inputs.ts";

const UNIX_SECONDS = "Unix time (seconds) Eg. 1137971045";
const UNIX_MILLISECONDS = "Unix time (milliseconds) Eg. 1137971045000";
const DEFAULT_FORMAT = "2006-01-22T23:04:05+0000";

/** By the name that stored steps have: the same moment in that format. */
const PATTERNS: Record<string, string> = {
  "Sun Jan 22 23:04:05 +0000 2006": "%a %b %d %H:%M:%S {ZZ} %Y",
  "January 22 2006 23:04:05": "%B %d %Y %H:%M:%S",
  "January 22 2006": "%B %d %Y",
  "Jan 22 2006": "%b %d %Y",
  "2006-01-22T23:04:05": "{yyyy}-{MM}-{dd}T{HH}:{mm}:{ss}",
  [DEFAULT_FORMAT]: "{yyyy}-{MM}-{dd}T{HH}:{mm}:{ss}{ZZ}",
  "2006-01-22 23:04:05 +0000": "%Y-%m-%d %H:%M:%S {ZZ}",
  "2006-01-22 23:04": "%Y-%m-%d %H:%M",
  "2006-01-22": "%Y-%m-%d",
  "01-22-2006": "%m-%d-%Y",
  "01/22/2006": "%m/%d/%Y",
  "01/22/06": "%m/%d/{yy}",
  "22-01-2006": "%d-%m-%Y",
  "22/01/2006": "%d/%m/%Y",
  "22/01/06": "%d/%m/{yy}",
};
/** A time with its offset, which needs no telling apart. */
const WITH_OFFSET = /:\d\d(?:\.\d+)?\s*(?:Z|GMT|UTC|[+-]\d\d:?\d\d)(?:\s|$)/i;
/** Other texts in these formats would be read as month, day, year. */
const DAY_FIRST = ["22-01-2006", "22/01/2006", "22/01/06"];

export const DATE_FORMATS = [
  ...Object.keys(PATTERNS),
  UNIX_SECONDS,
  UNIX_MILLISECONDS,
];

/** The moment of a text in a named format, or in one that is told from the text. */
export function dateIn(name: string, given: unknown, format?: string): Date {
  const text = textOf(name, given).trim();
  const date = read(text, format);
  if (!Number.isNaN(date.getTime())) return date;
  throw configurationError(
    format
      ? `\`${name}\` is \`${text}\`, which is not a date in the format \`${format}\``
      : `\`${name}\` is \`${text}\`, which cannot be read as a date; choose its format`,
  );
}

/** The date in a named format, or in one of tokens such as `%Y` or `{yyyy}`. */
export function dateAs(date: Date, format: string = DEFAULT_FORMAT): string | number {
  if (format === UNIX_SECONDS) return date.getTime() / 1000;
  if (format === UNIX_MILLISECONDS) return date.getTime();
  const pattern = Object.hasOwn(PATTERNS, format) ? PATTERNS[format] : format;
  const utc = Sugar.Date.setUTC(new Date(date), true);
  try {
    return Sugar.Date.format(utc, pattern);
  } catch (error) {
    throw configurationError(
      `\`${format}\` is not a format of dates: ${(error as Error).message}`,
    );
  }
}

function read(text: string, format?: string): Date {
  if (text === "") return new Date(NaN);
  if (format === UNIX_MILLISECONDS) return new Date(Number(text));
  if (format !== undefined && DAY_FIRST.includes(format)) return dayFirst(text);
  const seconds = Number(text);
  if (format === UNIX_SECONDS || !Number.isNaN(seconds)) {
    return new Date(seconds * 1000);
  }
  const exact = WITH_OFFSET.test(text) ? new Date(text) : undefined;
  if (exact !== undefined && !Number.isNaN(exact.getTime())) return exact;
  return Sugar.Date.create(text, { fromUTC: true, setUTC: true });
}

function dayFirst(text: string): Date {
  const found = /^(\d{1,2})[-/](\d{1,2})[-/](\d{2}|\d{4})$/.exec(text);
  if (found === null) return new Date(NaN);
  const [day, month, year] = found.slice(1).map(Number) as [number, number, number];
  const full = year < 100 ? year + 2000 : year;
  const date = new Date(Date.UTC(full, month - 1, day));
  // The 31st of a shorter month would be one of the next.
  return date.getUTCDate() === day && date.getUTCMonth() === month - 1
    ? date
    : new Date(NaN);
}
