/**
 * The props that the date actions have in common.
 *
 * Not responsible for reading dates (`dates.ts`).
 */

import { DATE_FORMATS } from "./dates.ts";

export const INPUT_DATE = {
  type: "string",
  label: "Date",
  description: "The date, in the input format. Without a format it is told from the " +
    "text; a number counts seconds since 1970.",
};

export const INPUT_FORMAT = {
  type: "string",
  label: "Input format",
  description: "The format of the date.",
  options: DATE_FORMATS,
  optional: true,
};

export const OUTPUT_FORMAT = {
  type: "string",
  label: "Output format",
  description:
    "The format of the result: one of the list, or tokens such as `%Y-%m-%d` " +
    "or `{yyyy}-{MM}-{dd}`.",
  options: DATE_FORMATS,
};
