/**
 * Props of a workflow's step: the file's values, evaluated and in the types that the
 * component defines.
 *
 * The definitions are read once per component. Not responsible for values that the host
 * provides (accounts, stores, secrets), which win over those of the file.
 */

import { type Component, isObject } from "./component.ts";
import { inPlace } from "./failure.ts";
import {
  finalize,
  hasOwn,
  isArray,
  jsonParse,
  objectKeys,
  OwnMap,
} from "./intrinsics.ts";
import { toJson } from "./json.ts";
import { resolveProp } from "./prop_definition.ts";
import type { PropValues } from "./protocol.ts";
import { fillIn } from "./templates.ts";
import { jsonIn, numberIn, textOf } from "./text_forms.ts";
import type { Steps } from "./workflow_input.ts";

type Coercion = (value: unknown) => unknown;

interface Definition {
  coerce: Coercion | undefined;
  withLabel: boolean;
  /** JSON, so that each run has its own. */
  defaultValue: string | undefined;
}

export class StepProps {
  #definitions = new OwnMap<string, Definition>();

  constructor({ props }: Component) {
    if (!isObject(props)) return;
    for (const name of objectKeys(props)) {
      const definition = definitionOf(name, props[name]);
      if (definition !== undefined) this.#definitions.set(name, definition);
    }
  }

  /** The values of the file's props that the host has not given. */
  async values(
    templates: Record<string, unknown>,
    given: PropValues,
    steps: Steps,
  ): Promise<PropValues> {
    const values = { __proto__: null } as unknown as PropValues;
    const names = objectKeys(templates);
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!;
      if (name[0] === "_" || hasOwn(given, name)) continue;
      const value = isObject(templates[name])
        ? await inPlace(`props.${name}`, () => this.#value(templates, name, steps))
        : this.#read(name, templates[name]);
      const read = value === undefined ? this.#default(name) : value;
      if (read !== undefined) values[name] = read;
    }
    return values;
  }

  async #value(
    templates: Record<string, unknown>,
    name: string,
    steps: Steps,
  ): Promise<unknown> {
    const awaiting = fillIn(templates, name, steps);
    if (awaiting !== undefined) await awaiting;
    return this.#read(name, templates[name]);
  }

  #default(name: string): unknown {
    const text = this.#definitions.get(name)?.defaultValue;
    return text === undefined ? undefined : jsonParse(text);
  }

  #read(name: string, given: unknown): unknown {
    const definition = this.#definitions.get(name);
    const withLabel = definition?.withLabel === true;
    const value = unlabelled(given, withLabel);
    const isLabelled = withLabel && isObject(value);
    if (value === undefined || value === null || isLabelled) return value;
    return definition?.coerce === undefined ? value : definition.coerce(value);
  }
}

/** Entries that are not props are reported when the component is described. */
function definitionOf(name: string, definition: unknown): Definition | undefined {
  try {
    const { type, fields } = resolveProp(name, definition);
    return {
      coerce: COERCIONS[type],
      withLabel: fields.withLabel === true,
      defaultValue: toJson(fields.default, "the default"),
    };
  } catch {
    return undefined;
  }
}

/** The editor stores choices with their labels. */
function unlabelled(value: unknown, withLabel: boolean): unknown {
  if (!isArray(value)) return ofChoice(value, withLabel);
  // The list may be one of `steps`, which stays as it is.
  const items: unknown[] = [];
  let isChanged = false;
  for (let i = 0; i < value.length; i++) {
    items[i] = ofChoice(value[i], withLabel);
    isChanged ||= items[i] !== value[i];
  }
  return isChanged ? items : value;
}

function ofChoice(value: unknown, withLabel: boolean): unknown {
  if (!isObject(value) || !hasOwn(value, "__lv")) return value;
  const choice = value.__lv;
  return withLabel || !isObject(choice) ? choice : choice.value;
}

const parsed: Coercion = (value) => {
  const json = typeof value === "string" ? jsonIn(value) : undefined;
  return json === undefined ? value : json;
};

const COERCIONS: Record<string, Coercion> = {
  __proto__: null as never,
  string: textOf,
  integer: (value) => typeof value === "string" ? exactNumber(value) ?? value : value,
  boolean: (value) => value === "true" ? true : value === "false" ? false : value,
  object: parsed,
  "integer[]": parsed,
  "any[]": parsed,
  "string[]": (value) => {
    if (typeof value !== "string") return value;
    const list = jsonIn(value);
    return isArray(list) ? list : [value];
  },
};

/** An id of twenty digits is not a number: it would become another id. */
function exactNumber(text: string): number | undefined {
  const number = numberIn(text);
  const isExact = !Number.isInteger(number) || Number.isSafeInteger(number);
  return isExact && Number.isFinite(number) ? number : undefined;
}

finalize(StepProps);
