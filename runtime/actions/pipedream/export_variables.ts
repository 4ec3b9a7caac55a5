/**
 * `pipedream_utils-export-variables`: values that later steps refer to.
 *
 * Not for values that outlive the run; a data store has those.
 */

import { configurationError } from "../configuration_error.ts";
import type { StepArguments } from "../step.ts";

export default {
  key: "pipedream_utils-export-variables",
  name: "Export Variables",
  version: "0.0.1",
  type: "action",
  description: "Export values, as `config`, for use in later steps.",
  props: {
    config: {
      type: "object",
      label: "Values",
      description: "The values by name.",
    },
  },
  run(this: { config?: unknown }, { $ }: StepArguments) {
    $.export("config", objectOf(this.config));
  },
};

function objectOf(config: unknown): unknown {
  if (typeof config !== "string") return config;
  if (config.trim() === "") return undefined;
  try {
    return JSON.parse(config);
  } catch {
    throw configurationError("`config` must be an object, or JSON text of one");
  }
}
