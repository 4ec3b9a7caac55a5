/**
 * Currencies: the choices of a prop, and amounts written in them.
 *
 * Names and symbols come from the runtime's own data. Knows no rates.
 */

import { configurationError } from "../configuration_error.ts";
import { digitsOf, written } from "./digits.ts";

/** Current ones by ISO 4217, the most used first. */
const CODES = `USD EUR JPY BRL RUB GBP CAD
  AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BSD BTN BWP
  BYN BZD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB FJD FKP GEL GHS
  GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD KES KGS KHR KMF KPW
  KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN
  MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RWF SAR SBD
  SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH
  UGX UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW`.split(/\s+/);

export interface Currency {
  code: string;
  symbol: string;
  name: string;
}

/** The values are read again by `currencyOf`, in these and in former words. */
export function currencyOptions() {
  return CODES.map(known).map(({ code, symbol, name }) => ({
    label: name,
    value: `${code} - ${symbol} - ${name}`,
  }));
}

/** The currency of `CODE - SYMBOL - NAME`, or of a code alone. */
export function currencyOf(text: string): Currency {
  const [code = "", symbol, name] = text.split(" - ");
  if (symbol !== undefined && name !== undefined) return { code, symbol, name };
  if (CODES.includes(code)) return known(code);
  throw configurationError(
    `\`${text}\` is not a currency: choose one of the list, or enter a code such as USD`,
  );
}

const names = new Intl.DisplayNames("en", { type: "currency" });

function known(code: string): Currency {
  const format = new Intl.NumberFormat("en", {
    style: "currency",
    currency: code,
    currencyDisplay: "narrowSymbol",
  });
  const symbol = format.formatToParts(0).find(({ type }) => type === "currency");
  return { code, symbol: symbol?.value ?? code, name: names.of(code) ?? code };
}

/** `¤` stands for the symbol, `¤¤` for the code and `¤¤¤` for the name. */
export const CURRENCY_FORMATS = [
  { label: "$1,000.00", value: "¤#,##0.00" },
  { label: "$1,000.00 USD", value: "¤#,##0.00 ¤¤" },
  { label: "$1,000.00 US Dollar", value: "¤#,##0.00 ¤¤¤" },
  { label: "$1000.00", value: "¤###0.00" },
  { label: "1,000.00", value: "#,##0.00" },
  { label: "1000.00", value: "###0.00" },
];

/** The amount, whose decimals are behind a period, or a comma if it has no period. */
export function amountIn(amount: string, currency: Currency, format: string): string {
  const digits = digitsOf(amount, amount.includes(".") ? "." : ",");
  const decimals = (digits.decimals ?? "").padEnd(2, "0");
  const group = format.includes(",") ? "," : "";
  const number = written({ ...digits, decimals }, { group, decimal: "." });
  const symbol = format.startsWith("¤") ? currency.symbol : "";
  return `${symbol}${number}${ending(currency, format)}`;
}

function ending({ code, name }: Currency, format: string): string {
  switch (/¤+$/.exec(format)?.[0].length) {
    case 2:
      return ` ${code}`;
    case 3:
      return ` ${name}`;
  }
  return "";
}
