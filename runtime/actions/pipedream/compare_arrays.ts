/**
 * `pipedream_utils-compare-arrays`: two lists as sets.
 *
 * Objects are the same only if they are one: for lists of text and numbers.
 */

import { configurationError } from "../configuration_error.ts";
import { listOf } from "../inputs.ts";

type Operation = (a: Set<unknown>, b: Set<unknown>) => Set<unknown>;

const OPERATIONS: Record<string, Operation> = {
  "difference": (a, b) => a.difference(b),
  "union": (a, b) => a.union(b),
  "intersection": (a, b) => new Set(Array.from(a).filter((item) => b.has(item))),
  "symmetric difference": (a, b) => a.symmetricDifference(b),
};

interface Props {
  array1?: unknown;
  array2?: unknown;
  actionType: string;
}

const list = (label: string) => ({
  type: "string[]",
  label,
  description: "One of the lists to compare.",
  default: [],
});

export default {
  key: "pipedream_utils-compare-arrays",
  name: "Compare Arrays",
  version: "0.0.1",
  type: "action",
  description:
    "Get the difference, intersection, union or symmetric difference of two " +
    "lists.",
  props: {
    array1: list("Array 1"),
    array2: list("Array 2"),
    actionType: {
      type: "string",
      label: "Operation",
      description: "The set to return.",
      options: Object.keys(OPERATIONS),
    },
  },
  run(this: Props) {
    const operation = Object.hasOwn(OPERATIONS, this.actionType)
      ? OPERATIONS[this.actionType]
      : undefined;
    if (operation === undefined) {
      const known = Object.keys(OPERATIONS).join(", ");
      throw configurationError(
        `\`actionType\` must be one of ${known}, not \`${this.actionType}\``,
      );
    }
    const first = new Set(listOf("array1", this.array1 ?? []));
    const second = new Set(listOf("array2", this.array2 ?? []));
    return Array.from(operation(first, second));
  },
};
