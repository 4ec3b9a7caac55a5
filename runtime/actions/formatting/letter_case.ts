/**
 * The operations of `formatting-transform-case`, under the names that stored steps have.
 *
 * Knows English only where an operation is about English.
 */

import pluralize from "npm:pluralize@8.0.0";
import { titleCase } from "npm:title-case@3.0.3";

interface Operation {
  label: string;
  apply: (text: string) => string;
}

export const OPERATIONS: Record<string, Operation> = {
  Capitalize: {
    label: "Capitalize the first letter of every word",
    apply: (text) =>
      text.replace(/(^| )([^ ])/gu, (_, space, first) => space + first.toUpperCase()),
  },
  Titlecase: {
    label: "Title case: as a title, with small words such as `of` in small letters",
    apply: (text) => titleCase(text),
  },
  Pluralize: {
    label: "The plural of an English word: `child` becomes `children`",
    apply: (text) => pluralize.plural(text),
  },
  Uppercase: {
    label: "Capital letters",
    apply: (text) => text.toUpperCase(),
  },
  Lowercase: {
    label: "Small letters",
    apply: (text) => text.toLowerCase(),
  },
};
