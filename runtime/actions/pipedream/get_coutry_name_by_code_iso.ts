/**
 * `pipedream_utils-get-coutry-name-by-code-iso`: a country's English name. The key is
 * spelled as stored steps have it.
 *
 * The names are those of the runtime's own data.
 */

import { textOf } from "../inputs.ts";

export default {
  key: "pipedream_utils-get-coutry-name-by-code-iso",
  name: "Country name, given code (2-letter)",
  version: "0.0.1",
  type: "action",
  description: "Get the English name of a country; a code that stands for none is " +
    "returned as it is.",
  props: {
    countryCode: {
      type: "string",
      label: "Country code",
      description: "The code of two letters, for example `CH`.",
    },
  },
  run(this: { countryCode: unknown }) {
    const code = textOf("countryCode", this.countryCode);
    const region = code.trim().toUpperCase();
    if (!/^[A-Z]{2}$/.test(region)) return code;
    const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
    return names.of(region) ?? code;
  },
};
