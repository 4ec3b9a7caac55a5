/**
 * `pipedream_utils-random-integer`: a random whole number between two bounds.
 *
 * Not for secrets: the numbers can be foreseen.
 */

import { configurationError } from "../configuration_error.ts";
import { numberOf } from "../inputs.ts";

const MIN = 0;
const MAX = 10_000;

interface Props {
  min?: unknown;
  max?: unknown;
}

export default {
  key: "pipedream_utils-random-integer",
  name: "Random Integer",
  version: "0.0.1",
  type: "action",
  description: "Get a random whole number. Useful for random delays.",
  props: {
    min: {
      type: "integer",
      label: "Min",
      description: "The least possible number.",
      default: MIN,
    },
    max: {
      type: "integer",
      label: "Max",
      description: "The greatest possible number.",
      default: MAX,
    },
  },
  run(this: Props) {
    const min = numberOf("min", this.min ?? MIN);
    const max = numberOf("max", this.max ?? MAX);
    if (min > max) {
      throw configurationError(`\`min\` (${min}) is above \`max\` (${max})`);
    }
    return Math.floor(Math.random() * (max - min + 1) + min);
  },
};
