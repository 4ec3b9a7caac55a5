/**
 * Expressions of workflows: JavaScript text as functions of `steps` and `event`.
 *
 * They are code of the workflow's owner, like components, and run in the same realm:
 * nothing is kept from them that components may use. Responsible for compiling each
 * text once. Not responsible for finding expressions in text, which is the host's.
 */

import { evaluateScript, freeze, OwnMap, stringTrim } from "./intrinsics.ts";
import type { Steps } from "./workflow_input.ts";

/** Where expressions are in stacks, and for what they import: outside of the runtime. */
const EXPRESSION_URL = "file:///workflow/expression.js";

/** Bounds of the memory for functions that are used again. */
const CACHED_MAX = 2000;
const CACHED_CHARACTERS_MAX = 1024 * 1024;

type Compiled = (steps: Steps, event: unknown) => unknown;

export interface Expression {
  /** Whether it awaits something, and its value comes as a promise. */
  isAsync: boolean;
  /** Whether it may use `event`, which may have to be read from a file. */
  usesEvent: boolean;
  call: Compiled;
}

const cache = new OwnMap<string, Expression>();
let cachedCharacters = 0;

/** The value of an expression; the promise of it for one that awaits something. */
export function evaluate(expression: Expression, steps: Steps): unknown {
  const { call, usesEvent } = expression;
  return call(steps, usesEvent ? eventOf(steps) : undefined);
}

export function expressionOf(text: string): Expression {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const compiled = compiledFrom(text);
  if (cache.size >= CACHED_MAX || cachedCharacters > CACHED_CHARACTERS_MAX) {
    cache.clear();
    cachedCharacters = 0;
  }
  if (text.length < CACHED_CHARACTERS_MAX / 2) {
    cache.set(text, compiled);
    cachedCharacters += text.length;
  }
  return compiled;
}

function compiledFrom(text: string): Expression {
  const isAsync = /\bawait\b/.test(text);
  const usesEvent = /\bevent\b/.test(text);
  if (isEmpty(text)) return freeze({ isAsync, usesEvent, call: () => undefined });
  // A line break ends a comment at the end of the text.
  const body = `{ "use strict"; return (${text}\n); }`;
  const script = `(${isAsync ? "async " : ""}function (steps, event) ${body})`;
  const call: Compiled = evaluateScript(script, EXPRESSION_URL);
  // Code that imports this module could otherwise replace the functions of others.
  return freeze({ isAsync, usesEvent, call });
}

/** Whether nothing but comments is left. */
function isEmpty(text: string): boolean {
  return stringTrim(text.replace(/\/\*[^]*?\*\/|\/\/.*/g, "")) === "";
}

function eventOf(steps: Steps): unknown {
  const { trigger } = steps;
  return (trigger as Record<string, unknown> | null | undefined)?.event;
}
