/**
 * `pipedream_utils-extract-by-regular-expressions-list`: the matches of several
 * expressions, by name.
 *
 * The props `key_0`, `input_0`, `regex_0` and so on end at the first without a key. Not
 * responsible for matching.
 */

import { type Match, matchesIn } from "../formatting/matches.ts";
import { textOf } from "../inputs.ts";

type Props = Record<string, unknown>;

const text = (label: string, description: string) => ({
  type: "string",
  label,
  description,
});
const KEY = text("Key", "The name that the matches get in the result.");
const INPUT = text("Input", "The text to search.");
const REGEX = text("Regular expression", "The expression: `/a+/i` or `a+`.");

export default {
  key: "pipedream_utils-extract-by-regular-expressions-list",
  name: "[Text] Extract by Regular Expressions List",
  version: "0.1.1",
  type: "action",
  description: "Find every match of several regular expressions, with its positions.",
  props: {
    key_0: { ...KEY, reloadProps: true },
    input_0: INPUT,
    regex_0: REGEX,
  },
  additionalProps(this: Props) {
    const props: Record<string, unknown> = {};
    const count = countOf(this);
    for (let i = 1; i < count; i++) {
      props[`key_${i}`] = KEY;
      props[`input_${i}`] = INPUT;
      props[`regex_${i}`] = REGEX;
    }
    const next = Math.max(count, 1);
    props[`key_${next}`] = { ...KEY, optional: true, reloadProps: true };
    return props;
  },
  run(this: Props) {
    const found: Record<string, Match[]> = {};
    for (let i = 0; i < countOf(this); i++) {
      const pattern = textOf(`regex_${i}`, this[`regex_${i}`]);
      const input = textOf(`input_${i}`, this[`input_${i}`]);
      found[String(this[`key_${i}`])] = matchesIn(input, pattern);
    }
    return found;
  },
};

function countOf(props: Props): number {
  let count = 0;
  while (props[`key_${count}`]) count++;
  return count;
}
