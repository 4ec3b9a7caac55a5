/**
 * Moments in ISO 8601, and their time in a zone.
 *
 * A text without an offset is in the zone that it is read for. Not responsible for other
 * texts, which `formatting/dates.ts` reads.
 */

import { configurationError } from "../configuration_error.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const ISO =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** The epoch milliseconds of an ISO 8601 text. */
export function momentOf(name: string, text: string, zone = "UTC"): number {
  const found = ISO.exec(text.trim());
  const local = found === null ? NaN : localTime(found);
  if (Number.isNaN(local)) {
    throw configurationError(
      `\`${name}\` is \`${text}\`, which is not a time in ISO 8601, such as ` +
        "2026-01-31T12:00:00Z",
    );
  }
  const offset = found![8];
  return offset === undefined
    ? inZone(local, zone)
    : local - minutesOf(offset) * MINUTE_MS;
}

/** Its time in the zone, with the offset: `2026-01-31T13:00:00+01:00`. */
export function timeInZone(moment: number, zone: string): string {
  const offset = offsetAt(moment, zone);
  const text = new Date(moment + offset * MINUTE_MS).toISOString().slice(0, 19);
  if (offset === 0) return `${text}Z`;
  const two = (number: number) => String(Math.floor(Math.abs(number))).padStart(2, "0");
  const minutes = Math.abs(offset);
  return `${text}${offset < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

export function checkZone(name: string, zone: string): string {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return zone;
  } catch {
    throw configurationError(
      `\`${name}\` is \`${zone}\`, which is not a time zone, such as America/Los_Angeles`,
    );
  }
}

/** The fields as if they were UTC; NaN if there is no such day or time. */
function localTime(found: RegExpExecArray): number {
  const [year, month, day, hour, minute, second] = found.slice(1, 7)
    .map((digits) => Number(digits ?? 0)) as [
      ...[number, number, number],
      ...[number, number, number],
    ];
  const milliseconds = Math.floor(Number(`0.${found[7] ?? 0}`) * 1000);
  const time = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  const date = new Date(time);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day &&
    minute < 60 && second < 60;
  return isReal ? time : NaN;
}

function minutesOf(offset: string): number {
  if (offset.toUpperCase() === "Z") return 0;
  const digits = offset.slice(1).replace(":", "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return offset[0] === "-" ? -minutes : minutes;
}

/** A time that clocks show twice is the first; one that they skip is as much later. */
function inZone(local: number, zone: string): number {
  const before = offsetAt(local - DAY_MS, zone);
  const after = offsetAt(local + DAY_MS, zone);
  for (const offset of [before, after]) {
    const moment = local - offset * MINUTE_MS;
    if (offsetAt(moment, zone) === offset) return moment;
  }
  return local - before * MINUTE_MS;
}

/** Minutes that clocks in the zone are ahead of UTC. */
function offsetAt(moment: number, zone: string): number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    timeZoneName: "longOffset",
  });
  const name = format.formatToParts(moment).find(({ type }) => type === "timeZoneName");
  const offset = /[+-]\d\d:\d\d/.exec(name?.value ?? "")?.[0];
  return offset === undefined ? 0 : minutesOf(offset);
}
