/**
 * `pipedream_utils-csv-file-to-objects`: the records of a CSV file.
 *
 * The file is read as a whole, as its records are returned as a whole.
 */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "npm:csv-parse@5.5.6/sync";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

interface Props {
  filePath: unknown;
  hasHeaders?: boolean;
  skipEmptyLines?: boolean;
  skipRecordsWithEmptyValues?: boolean;
  skipRecordsWithError?: boolean;
}

const flag = (label: string, description: string, byDefault: boolean) => ({
  type: "boolean",
  label,
  description,
  optional: true,
  default: byDefault,
});

export default {
  key: "pipedream_utils-csv-file-to-objects",
  name: "CSV File To Objects",
  version: "0.0.2",
  type: "action",
  description: "Read a CSV file into a list.",
  props: {
    filePath: {
      type: "string",
      label: "Path of the file",
      description: "The file, in `/tmp`: `/tmp/example.csv`.",
    },
    hasHeaders: flag(
      "The file has headers",
      "Whether the first row has the names of the columns. Records are objects then, " +
        "and lists otherwise.",
      false,
    ),
    skipEmptyLines: flag(
      "Skip empty lines",
      "Whether lines without anything are left out.",
      true,
    ),
    skipRecordsWithEmptyValues: flag(
      "Skip empty records",
      "Whether records whose values are all empty are left out.",
      false,
    ),
    skipRecordsWithError: flag(
      "Skip broken records",
      "Whether records that cannot be read are left out.",
      false,
    ),
    syncDir: { type: "dir", accessMode: "read", sync: true, optional: true },
  },
  run(this: Props, { $ }: StepArguments) {
    const path = resolve(textOf("filePath", this.filePath));
    const records = parse(readFileSync(path, "utf8"), {
      bom: true,
      columns: this.hasHeaders ?? false,
      skip_empty_lines: this.skipEmptyLines ?? true,
      skip_records_with_empty_values: this.skipRecordsWithEmptyValues ?? false,
      skip_records_with_error: this.skipRecordsWithError ?? false,
    });
    $.export("$summary", `Read ${records.length} records`);
    return records;
  },
};
