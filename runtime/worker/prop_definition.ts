/**
 * Prop definitions with their `propDefinition` references followed.
 *
 * Responsible for the inheritance rule (the component's definition wins over the app's)
 * and for remembering the origin of an `options` method, which decides its `this`. Not responsible for prop values.
 */

import {
  type AppDefinition,
  type ComponentFunction,
  isFunction,
  isObject,
} from "./component.ts";

const MAX_REFERENCES = 16;

/** An app's prop definition that a prop refers to, with the prop's arguments. */
export interface Reference {
  app: AppDefinition;
  inputValues: unknown;
}

export interface PropDefinition {
  type: string;
  fields: Record<string, unknown>;
  optionsMethod: ComponentFunction | undefined;
  /** The app the options method belongs to; undefined when it is the component's own. */
  optionsApp: AppDefinition | undefined;
  /** Every reference followed, nearest first. */
  references: Reference[];
}

export function resolveProp(name: string, definition: unknown): PropDefinition {
  const first = typeof definition === "string" ? { type: definition } : definition;
  if (!isObject(first)) throw new TypeError(`prop "${name}" has no definition`);
  const fields: Record<string, unknown> = { ...first };
  const references: Reference[] = [];
  let optionsApp: AppDefinition | undefined;
  let reference = first.propDefinition;
  delete fields.propDefinition;
  while (reference !== undefined && reference !== null) {
    const { app, inherited, inputValues } = follow(name, reference);
    if (references.push({ app, inputValues }) > MAX_REFERENCES) {
      throw new TypeError(`prop "${name}": propDefinition refers to itself`);
    }
    if (!("options" in fields) && "options" in inherited) optionsApp = app;
    for (const key of Object.keys(inherited)) {
      if (!(key in fields) && key !== "propDefinition") fields[key] = inherited[key];
    }
    reference = inherited.propDefinition;
  }
  if (typeof fields.type !== "string") {
    throw new TypeError(`prop "${name}" has no type${hintOf(references)}`);
  }
  const optionsMethod = isFunction(fields.options) ? fields.options : undefined;
  return { type: fields.type, fields, optionsMethod, optionsApp, references };
}

function follow(name: string, reference: unknown) {
  if (!Array.isArray(reference) || !isObject(reference[0])) {
    throw new TypeError(
      `prop "${name}": propDefinition must be [app, name, inputValues?]`,
    );
  }
  const [app, definitionName, inputValues] = reference as [
    AppDefinition,
    string,
    unknown,
  ];
  const inherited = app.propDefinitions?.[definitionName];
  // A prop that brings everything itself works even when the app lost its definition.
  const found = isObject(inherited) ? inherited : {};
  return { app, inherited: found, inputValues };
}

function hintOf(references: Reference[]): string {
  const app = references[0]?.app;
  return app ? `, and its propDefinition is not in app "${app.app ?? "?"}"` : "";
}
