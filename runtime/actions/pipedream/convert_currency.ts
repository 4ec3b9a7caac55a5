/**
 * `pipedream_utils-convert-currency`: an amount at the day's rate of another currency.
 *
 * The rates are those of the service `frankfurter`, whose answer is the result.
 */

import { sendForData } from "../http_client.ts";
import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

const SERVICE = "https://api.frankfurter.app";

interface Props {
  fromCurrency: unknown;
  toCurrency: unknown;
  value: unknown;
}

async function currencyOptions() {
  const names = await sendForData({ url: `${SERVICE}/currencies` });
  return Object.entries(names as Record<string, string>)
    .map(([value, label]) => ({ label, value }));
}

export default {
  key: "pipedream_utils-convert-currency",
  name: "Convert Currency",
  version: "0.0.1",
  type: "action",
  description: "Convert an amount into another currency.",
  props: {
    fromCurrency: {
      type: "string",
      label: "From",
      description: "The currency of the amount.",
      options: currencyOptions,
    },
    toCurrency: {
      type: "string",
      label: "To",
      description: "The currency to convert it to.",
      options: currencyOptions,
    },
    value: { type: "string", label: "Amount", description: "The amount." },
  },
  async run(this: Props, { $ }: StepArguments) {
    const from = textOf("fromCurrency", this.fromCurrency);
    const to = textOf("toCurrency", this.toCurrency);
    const amount = textOf("value", this.value);
    const url = `${SERVICE}/latest`;
    const answer = await sendForData({ url, params: { from, to, amount } });
    const { rates } = answer as { rates?: Record<string, number> };
    $.export("$summary", `${amount} ${from} = ${rates?.[to]} ${to}`);
    return answer;
  },
};
