/**
 * `formatting-format-currency`: a number as an amount of money.
 *
 * Not responsible for the formats (`currencies.ts`).
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import {
  amountIn,
  CURRENCY_FORMATS,
  currencyOf,
  currencyOptions,
} from "./currencies.ts";

interface Props {
  input: unknown;
  currency: unknown;
  currencyFormat: unknown;
}

export default {
  key: "formatting-format-currency",
  name: "[Numbers] Format Currency",
  version: "0.0.5",
  type: "action",
  description: "Write a number as an amount of a currency.",
  props: {
    input: {
      type: "string",
      label: "Input",
      description: "The number.",
    },
    currency: {
      type: "string",
      label: "Currency",
      description: "The currency, by its list entry or its code.",
      options: currencyOptions(),
    },
    currencyFormat: {
      type: "string",
      label: "Format",
      description:
        "The format of the amount: `¤` at the beginning is the symbol, `¤¤` " +
        "at the end the code, `¤¤¤` the name.",
      options: CURRENCY_FORMATS,
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const amount = amountIn(
      textOf("input", this.input),
      currencyOf(textOf("currency", this.currency)),
      textOf("currencyFormat", this.currencyFormat),
    );
    $.export("$summary", "Formatted the amount");
    return amount;
  },
};
