/** Actions on text, numbers and data. */

import assert from "node:assert/strict";
import { failureOf, loadAction, runAction } from "./builtin_steps.ts";

type Row = [key: string, props: Record<string, unknown>, returned: unknown];

const NANP = "((\\([0-9]{3}\\) ?)|[0-9]{3}-)[0-9]{3}-[0-9]{4}";
const USD = "USD - $ - United States dollar";

const ROWS: Row[] = [
  ["formatting-trim-whitespace", { input: " \n a b\t" }, "a b"],
  ["formatting-url-encode", { input: "a b/ä?" }, "a%20b%2F%C3%A4%3F"],
  ["formatting-url-decode", { input: "a%20b%2F%C3%A4+" }, "a b/ä+"],
  ["formatting-set-default-value", { input: "a", defaultValue: "b" }, "a"],
  ["formatting-set-default-value", { input: "", defaultValue: "b" }, "b"],
  ["formatting-set-default-value", { defaultValue: [1] }, [1]],
  ["formatting-parse-json", { input: '{"a":[1,null]}' }, { a: [1, null] }],
  ["formatting-convert-json-to-string", { input: { a: [1] } }, '{"a":[1]}'],
  ["formatting-extract-number", { input: "costs 1,234.50 now 7" }, "1,234.50"],
  ["formatting-extract-number", { input: "none" }, undefined],
  [
    "formatting-extract-email-address",
    { input: "Ann <ann.b+c@mail.example.com>, x@y.org" },
    "ann.b+c@mail.example.com",
  ],
  ["formatting-extract-email-address", { input: "name,a@b.org" }, "a@b.org"],
  ["formatting-extract-email-address", { input: "a@localhost" }, undefined],
  [
    "formatting-extract-url",
    { input: "see http://a.example/b?c=d#e and more" },
    "http://a.example/b?c=d#e",
  ],
  [
    "formatting-extract-phone-number",
    { input: "call (123) 456-7890!", format: NANP },
    "(123) 456-7890",
  ],
  [
    "formatting-extract-phone-number",
    { input: "call +49 30 1", format: "\\+\\d+ \\d+" },
    "+49 30",
  ],
  [
    "formatting-extract-by-regular-expression",
    { input: "b1 B22", regExpString: "/b(\\d+)/i" },
    [
      { match: "b1", startPosition: 0, endPosition: 2 },
      { match: "B22", startPosition: 3, endPosition: 6 },
    ],
  ],
  [
    "formatting-extract-by-regular-expression",
    { input: "b1 B22", regExpString: "b\\d" },
    [{ match: "b1", startPosition: 0, endPosition: 2 }],
  ],
  [
    "formatting-replace-text",
    { input: "a.b.c", findText: ".", replaceText: "-" },
    "a-b-c",
  ],
  ["formatting-replace-text", { input: "a.b", findText: "." }, "ab"],
  [
    "formatting-replace-text",
    { input: "a    b", findText: "  ", replaceText: " " },
    "a b",
  ],
  [
    "formatting-replace-text",
    { input: "aXa", findText: "a", replaceText: "aa" },
    "aaXaa",
  ],
  [
    "formatting-replace-text",
    { input: "Ann 12, Bob 7", findText: "/(\\w+) (\\d+)/", replaceText: "$2 $1" },
    "12 Ann, 7 Bob",
  ],
  ["formatting-replace-text", { input: "Aa", findText: "/a/i" }, ""],
  [
    "formatting-split-text",
    { input: "a,b,c", separator: ",", segmentIndex: -999 },
    "a",
  ],
  ["formatting-split-text", { input: "a,b,c", separator: ",", segmentIndex: 1 }, "b"],
  ["formatting-split-text", { input: "a,b,c", separator: ",", segmentIndex: -1 }, "c"],
  ["formatting-split-text", { input: "a,b,c", separator: ",", segmentIndex: -2 }, "b"],
  [
    "formatting-split-text",
    { input: "a,b", separator: ",", segmentIndex: 5 },
    undefined,
  ],
  [
    "formatting-split-text",
    { input: "a,b,c", separator: ",", segmentIndex: 999 },
    ["a", "b", "c"],
  ],
  [
    "formatting-split-text",
    { input: "a;b", separator: "/[,;]/", segmentIndex: 999 },
    ["a", "b"],
  ],
  ["formatting-split-text", { input: "abc", separator: ",", segmentIndex: 999 }, "abc"],
  [
    "formatting-transform-case",
    { input: "one  two THREE", operation: "Capitalize" },
    "One  Two THREE",
  ],
  [
    "formatting-transform-case",
    { input: "a tale of two cities", operation: "Titlecase" },
    "A Tale of Two Cities",
  ],
  ["formatting-transform-case", { input: "frog", operation: "Pluralize" }, "frogs"],
  ["formatting-transform-case", { input: "child", operation: "Pluralize" }, "children"],
  ["formatting-transform-case", { input: "ab", operation: "Uppercase" }, "AB"],
  ["formatting-transform-case", { input: "AB", operation: "Lowercase" }, "ab"],
  [
    "formatting-format-number",
    { input: "1234567.891", toFormat: ",." },
    "1,234,567.891",
  ],
  ["formatting-format-number", { input: "-123", toFormat: ",." }, "-123"],
  ["formatting-format-number", { input: 1234.5, toFormat: ".," }, "1.234,5"],
  [
    "formatting-format-number",
    { input: "1.234,5", inputDecimalMark: ",", toFormat: " ." },
    "1 234.5",
  ],
  [
    "formatting-format-number",
    { input: "0,50", inputDecimalMark: ",", toFormat: " ," },
    "0,50",
  ],
  [
    "formatting-format-currency",
    { input: "1000", currency: USD, currencyFormat: "¤#,##0.00" },
    "$1,000.00",
  ],
  [
    "formatting-format-currency",
    { input: "1000.5", currency: USD, currencyFormat: "¤#,##0.00 ¤¤" },
    "$1,000.50 USD",
  ],
  [
    "formatting-format-currency",
    { input: "1000,25", currency: USD, currencyFormat: "¤#,##0.00 ¤¤¤" },
    "$1,000.25 United States dollar",
  ],
  [
    "formatting-format-currency",
    { input: 1000, currency: "EUR", currencyFormat: "¤###0.00" },
    "€1000.00",
  ],
  [
    "formatting-format-currency",
    { input: "1000.125", currency: USD, currencyFormat: "#,##0.00" },
    "1,000.125",
  ],
  ["formatting-format-currency", {
    input: "5",
    currency: USD,
    currencyFormat: "###0.00",
  }, "5.00"],
  [
    "formatting-convert-markdown-to-html",
    { input: "# A b\n\n*c* [d](https://e.example)" },
    '<h1 id="ab">A b</h1>\n<p><em>c</em> <a href="https://e.example">d</a></p>',
  ],
  [
    "formatting-convert-html-to-text",
    { input: '<h1>Hi</h1><p>you &amp; <a href="https://e.example">me</a></p>' },
    "HI\n\nyou & me [https://e.example]",
  ],
];

Deno.test("texts, numbers and data are changed as the actions say", async () => {
  for (const [key, props, expected] of ROWS) {
    const { returned, exports } = await runAction(key, props);
    assert.deepEqual(returned, expected, `${key} ${JSON.stringify(props)}`);
    assert.equal(typeof exports.$summary, "string", key);
  }
});

Deno.test("the summary tells how much was found", async () => {
  for (
    const [key, props, summary] of [
      ["formatting-replace-text", { input: "a.b.c", findText: "." }, /2 instances/],
      ["formatting-replace-text", { input: "abc", findText: "." }, /nothing/],
      ["formatting-extract-number", { input: "a 7" }, /number "7"/],
      ["formatting-extract-number", { input: "a" }, /no number/],
      [
        "formatting-split-text",
        { input: "a,b", separator: ",", segmentIndex: 1 },
        /2 segments/,
      ],
      [
        "formatting-extract-by-regular-expression",
        { input: "a", regExpString: "b" },
        /no match/,
      ],
    ] as const
  ) {
    assert.match((await runAction(key, props)).exports.$summary, summary);
  }
});

Deno.test("HTML becomes Markdown", async () => {
  const input = "<h2>A</h2><p><strong>b</strong> <em>c</em></p>" +
    '<ul><li>d</li></ul><p><a href="https://e.example">e</a></p>';
  const { returned } = await runAction("formatting-convert-html-to-markdown", {
    input,
  });
  for (const part of ["## A", "**b** *c*", "- d", "[e](<https://e.example>)"]) {
    assert.ok(returned.includes(part), returned);
  }
});

Deno.test("what cannot be changed is an error that says why", async () => {
  const number = { currency: USD, currencyFormat: "¤#,##0.00" };
  for (
    const [key, props, name, message] of [
      ["formatting-parse-json", { input: "{a}" }, "Error", /the input is not JSON/],
      [
        "formatting-url-decode",
        { input: "100%" },
        "ConfigurationError",
        /encodes nothing/,
      ],
      [
        "formatting-replace-text",
        { input: "a", findText: "" },
        "ConfigurationError",
        /`findText` is empty/,
      ],
      [
        "formatting-replace-text",
        { input: "a", findText: "/(/" },
        "ConfigurationError",
        /Unterminated group/,
      ],
      [
        "formatting-replace-text",
        { input: "bba", findText: "ba", replaceText: "aabb" },
        "Error",
        /creates it again and again/,
      ],
      [
        "formatting-split-text",
        { input: "a", separator: "/x", segmentIndex: 1 },
        "ConfigurationError",
        /`\/x` is not a regular expression/,
      ],
      [
        "formatting-transform-case",
        { input: "a", operation: "toString" },
        "ConfigurationError",
        /must be one of Capitalize/,
      ],
      [
        "formatting-format-number",
        { input: "1.2.3", toFormat: ",." },
        "ConfigurationError",
        /more than one `\.`/,
      ],
      [
        "formatting-format-number",
        { input: "many", toFormat: ",." },
        "ConfigurationError",
        /`many` is not a number/,
      ],
      [
        "formatting-format-number",
        { input: "1", toFormat: "." },
        "ConfigurationError",
        /must be two marks/,
      ],
      [
        "formatting-format-currency",
        { ...number, input: "x" },
        "ConfigurationError",
        /`x` is not a number/,
      ],
      [
        "formatting-format-currency",
        { ...number, input: "1", currency: "Dollars" },
        "ConfigurationError",
        /`Dollars` is not a currency/,
      ],
      [
        "formatting-extract-phone-number",
        { input: "a", format: "(" },
        "ConfigurationError",
        /Unterminated group/,
      ],
    ] as const
  ) {
    const error = await failureOf(key, props);
    assert.equal(error.name, name, key);
    assert.match(error.message, message);
  }
});

Deno.test("each currency of the list is read again", async () => {
  const { props } = await loadAction("formatting-format-currency");
  const { currency } = props as Record<string, { options: { value: string }[] }>;
  assert.ok(currency!.options.length > 100);
  for (const { value } of currency!.options) {
    const given = { input: "1", currency: value, currencyFormat: "#,##0.00 ¤¤" };
    const { returned } = await runAction("formatting-format-currency", given);
    assert.equal(returned, `1.00 ${value.slice(0, 3)}`);
  }
});
