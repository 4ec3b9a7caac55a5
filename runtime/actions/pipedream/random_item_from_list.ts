/**
 * `pipedream_utils-random-item-from-list`: some items of a list, chosen at random.
 *
 * No item is chosen twice. Not for secrets: the choice can be foreseen.
 */

import { configurationError } from "../configuration_error.ts";
import { listOf, numberOf } from "../inputs.ts";

interface Props {
  list: unknown;
  quantity?: unknown;
}

export default {
  key: "pipedream_utils-random-item-from-list",
  name: "Random Item(s) from List",
  version: "0.0.1",
  type: "action",
  description: "Choose one or more items of a list at random.",
  props: {
    list: {
      type: "string[]",
      label: "List",
      description: "The items, or the list of an earlier step.",
    },
    quantity: {
      type: "integer",
      label: "Quantity",
      description: "The number of items to choose.",
      default: 1,
      min: 1,
    },
  },
  run(this: Props) {
    const left = [...listOf("list", this.list)];
    const quantity = numberOf("quantity", this.quantity ?? 1);
    if (quantity > left.length) {
      throw configurationError(
        `\`quantity\` is ${quantity}, but the list has ${left.length} items`,
      );
    }
    const take = () => left.splice(Math.floor(Math.random() * left.length), 1)[0];
    return Array.from({ length: quantity }, take);
  },
};
