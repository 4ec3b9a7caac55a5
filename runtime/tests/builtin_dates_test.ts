/** Actions on dates and times: in UTC, wherever the node runs. */

import assert from "node:assert/strict";
import { failureOf, loadAction, runAction } from "./builtin_steps.ts";

const FORMAT = "formatting-date-time-format";
const ADD = "formatting-add-subtract-time";
const COMPARE = "formatting-compare-dates";
const IN_ZONE = "pipedream_utils-get-time-in-specific-timezone";

const ISO = "2006-01-22T23:04:05+0000";
const SECONDS = "Unix time (seconds) Eg. 1137971045";
const MILLISECONDS = "Unix time (milliseconds) Eg. 1137971045000";

/** The names of the formats are the same moment, written in them. */
const FORMATS: [format: string, output: string | number, day?: boolean][] = [
  ["Sun Jan 22 23:04:05 +0000 2006", "Sun Jan 22 23:04:05 +0000 2006"],
  ["January 22 2006 23:04:05", "January 22 2006 23:04:05"],
  ["January 22 2006", "January 22 2006", true],
  ["Jan 22 2006", "Jan 22 2006", true],
  ["2006-01-22T23:04:05", "2006-01-22T23:04:05"],
  [ISO, ISO],
  ["2006-01-22 23:04:05 +0000", "2006-01-22 23:04:05 +0000"],
  ["2006-01-22", "2006-01-22", true],
  ["01-22-2006", "01-22-2006", true],
  ["01/22/2006", "01/22/2006", true],
  ["01/22/06", "01/22/06", true],
  ["22-01-2006", "22-01-2006", true],
  ["22/01/2006", "22/01/2006", true],
  ["22/01/06", "22/01/06", true],
  [SECONDS, 1137971045],
  [MILLISECONDS, 1137971045000],
];

Deno.test("a date is written in each format, and read again", async () => {
  for (const [outputFormat, output, isDay] of FORMATS) {
    const { returned } = await runAction(FORMAT, { inputDate: ISO, outputFormat });
    assert.equal(returned, output);
    const back = await runAction(FORMAT, {
      inputDate: String(returned),
      inputFormat: outputFormat,
      outputFormat: ISO,
    });
    assert.equal(back.returned, isDay ? "2006-01-22T00:00:00+0000" : ISO, outputFormat);
  }
  const minutes = { inputDate: ISO, outputFormat: "2006-01-22 23:04" };
  assert.equal((await runAction(FORMAT, minutes)).returned, "2006-01-22 23:04");
});

Deno.test("the format of a date is told from its text", async () => {
  for (
    const [inputDate, expected] of [
      ["1137971045", ISO],
      ["0", "1970-01-01T00:00:00+0000"],
      ["2006-01-22T23:04:05Z", ISO],
      ["2006-01-23T00:04:05+01:00", ISO],
      ["Sun, 22 Jan 2006 23:04:05 GMT", ISO],
      ["22 January 2006 11:04:05pm", ISO],
    ] as const
  ) {
    const { returned } = await runAction(FORMAT, { inputDate, outputFormat: ISO });
    assert.equal(returned, expected, inputDate);
  }
  const tokens = { inputDate: ISO, outputFormat: "{Weekday} {d}. {Mon} %Y, {HH}h" };
  assert.equal((await runAction(FORMAT, tokens)).returned, "Sunday 22. Jan 2006, 23h");
});

Deno.test("the zone of the machine does not matter", async () => {
  const zone = Deno.env.get("TZ");
  try {
    for (const other of ["America/New_York", "Asia/Kolkata"]) {
      Deno.env.set("TZ", other);
      assert.notEqual(new Date(2006, 0, 22).getTimezoneOffset(), 0);
      for (
        const inputDate of [
          "January 22 2006 23:04:05",
          "Sun Jan 22 23:04:05 +0000 2006",
        ]
      ) {
        const { returned } = await runAction(FORMAT, { inputDate, outputFormat: ISO });
        assert.equal(returned, ISO, other);
      }
    }
  } finally {
    if (zone === undefined) Deno.env.delete("TZ");
    else Deno.env.set("TZ", zone);
  }
});

Deno.test("durations are added and subtracted", async () => {
  for (
    const [operation, duration, outputFormat, expected] of [
      ["Add", "1s", ISO, "2006-01-22T23:04:06+0000"],
      ["Add", "1d 2h", ISO, "2006-01-24T01:04:05+0000"],
      ["Subtract", "90 minutes", ISO, "2006-01-22T21:34:05+0000"],
      ["Subtract", "1w", "2006-01-22", "2006-01-15"],
      ["Add", "1y", "2006-01-22", "2007-01-22"],
      ["Add", "1.5h", ISO, "2006-01-23T00:34:05+0000"],
    ] as const
  ) {
    const props = { inputDate: ISO, operation, duration, outputFormat };
    assert.equal((await runAction(ADD, props)).returned, expected);
  }
});

Deno.test("the output has the format of the input, or ISO 8601", async () => {
  const props = { operation: "Add", duration: "1d" };
  const same = { ...props, inputDate: "31/12/2025", inputFormat: "22/01/2006" };
  assert.equal((await runAction(ADD, same)).returned, "01/01/2026");
  const none = { ...props, inputDate: "2025-12-31" };
  assert.equal((await runAction(ADD, none)).returned, "2026-01-01T00:00:00+0000");
});

Deno.test("the time between dates is told in words", async () => {
  for (
    const [inputDate, endDate, datesSwapped, result] of [
      ["2026-01-01", "2026-01-01", false, "equal"],
      ["2026-01-01", "2026-01-02", false, "1 day"],
      ["2026-01-10", "2026-01-01", true, "1 week, 2 days"],
      [
        "2026-01-01T00:00:00Z",
        "2027-01-01T01:02:03Z",
        false,
        "1 year, 1 hour, 2 minutes, 3 seconds",
      ],
    ] as const
  ) {
    const { returned } = await runAction(COMPARE, { inputDate, endDate });
    assert.deepEqual(returned, { datesSwapped, result });
  }
});

Deno.test("texts that are not dates, durations or formats are refused by name", async () => {
  for (
    const [key, props, message] of [
      [
        FORMAT,
        { inputDate: "a fridge too far", outputFormat: ISO },
        /`inputDate` is `a fr/,
      ],
      [FORMAT, { inputDate: "", outputFormat: ISO }, /`inputDate` is ``/],
      [
        FORMAT,
        { inputDate: "31-02-2026", inputFormat: "22-01-2006", outputFormat: ISO },
        /not a date in the format `22-01-2006`/,
      ],
      [
        FORMAT,
        { inputDate: "soon", inputFormat: SECONDS, outputFormat: ISO },
        /not a date in the format `Unix time/,
      ],
      [
        FORMAT,
        { inputDate: ISO, outputFormat: "{nonsense}" },
        /is not a format of dates/,
      ],
      [COMPARE, { inputDate: ISO, endDate: "never" }, /`endDate` is `never`/],
      [
        ADD,
        { inputDate: ISO, operation: "Add", duration: "2 months" },
        /not a duration/,
      ],
      [ADD, { inputDate: ISO, operation: "Add", duration: "soon" }, /not a duration/],
    ] as const
  ) {
    const error = await failureOf(key, props);
    assert.equal(error.name, "ConfigurationError");
    assert.match(error.message, message);
  }
});

Deno.test("the formats that props offer are all known", async () => {
  const { props } = await loadAction(FORMAT);
  const { outputFormat } = props as Record<string, { options: string[] }>;
  const known = [...FORMATS.map(([format]) => format), "2006-01-22 23:04"];
  assert.deepEqual(new Set(outputFormat!.options), new Set(known));
});

Deno.test("a time is written as clocks in the zone show it", async () => {
  for (
    const [time, timezone, expected] of [
      ["2026-07-01T12:00:00Z", "America/Los_Angeles", "2026-07-01T05:00:00-07:00"],
      ["2026-01-01T12:00:00Z", "America/Los_Angeles", "2026-01-01T04:00:00-08:00"],
      ["2026-07-01T12:00:00+02:00", "Asia/Kolkata", "2026-07-01T15:30:00+05:30"],
      ["2026-07-01T12:00:00Z", "UTC", "2026-07-01T12:00:00Z"],
      ["20260701T120000Z", "Europe/Berlin", "2026-07-01T14:00:00+02:00"],
      // Without an offset it is of the zone.
      ["2026-07-01T12:00:00", "Europe/Berlin", "2026-07-01T12:00:00+02:00"],
      ["2026-01-15", "America/New_York", "2026-01-15T00:00:00-05:00"],
      // Clocks skip this hour,
      ["2026-03-08T02:30:00", "America/New_York", "2026-03-08T03:30:00-04:00"],
      // and show this one twice.
      ["2026-11-01T01:30:00", "America/New_York", "2026-11-01T01:30:00-04:00"],
    ] as const
  ) {
    const { returned } = await runAction(IN_ZONE, { time, timezone });
    assert.equal(returned, expected, `${time} ${timezone}`);
  }
});

Deno.test("the present time is written as clocks in the zone show it", async () => {
  const key = "pipedream_utils-get-current-time-in-specific-timezone";
  const before = Math.floor(Date.now() / 1000) * 1000;
  const { returned } = await runAction(key, { timezone: "Asia/Tokyo" });
  assert.match(returned, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+09:00$/);
  const moment = Date.parse(returned);
  assert.ok(before <= moment && moment <= Date.now(), returned);
});

Deno.test("a time for spreadsheets is in UTC", async () => {
  const key = "pipedream_utils-format-iso8601-datetime";
  for (
    const [iso8601, date, time] of [
      ["2026-01-02T00:05:06Z", "01/02/2026", "12:05:06 am"],
      ["2026-01-02T15:05:06.789+01:00", "01/02/2026", "2:05:06 pm"],
      ["2026-12-31T12:00", "12/31/2026", "12:00:00 pm"],
    ] as const
  ) {
    const { returned } = await runAction(key, { iso8601 });
    assert.deepEqual(returned, { date_time: `${date} ${time}`, date, time });
  }
});

Deno.test("days ago are exported as a time in UTC", async () => {
  const key = "pipedream_utils-get-iso-string-n-days-ago";
  const before = Date.now();
  const { exports } = await runAction(key, { days: "2" });
  assert.match(exports.date, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const moment = Date.parse(exports.date) + 2 * 86_400_000;
  assert.ok(before <= moment && moment <= Date.now(), exports.date);
});

Deno.test("unknown zones and times are refused by name", async () => {
  for (
    const [time, timezone, message] of [
      ["2026-01-01", "Mars/Olympus", /`timezone` is `Mars\/Olympus`/],
      ["2026-02-30T00:00:00Z", "UTC", /`time` is `2026-02-30T00:00:00Z`/],
      ["yesterday", "UTC", /`time` is `yesterday`/],
    ] as const
  ) {
    const error = await failureOf(IN_ZONE, { time, timezone });
    assert.equal(error.name, "ConfigurationError");
    assert.match(error.message, message);
  }
});
