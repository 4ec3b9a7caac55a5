/**
 * Props that are computed: async `options` methods and `additionalProps`.
 *
 * Responsible for calling them with the `this` and the arguments that components
 * expect. Not responsible for caching, paging or validating their results.
 */

import {
  type AppDefinition,
  type Component,
  isApp,
  isFunction,
  isObject,
} from "./component.ts";
import { describeProps } from "./describe.ts";
import type { Instance } from "./instance.ts";
import { createAppFactory } from "./app.ts";
import { type PropDefinition, type Reference, resolveProp } from "./prop_definition.ts";
import type { OptionsEntry, PropDescription } from "./protocol.ts";

export async function callOptions(
  component: Component,
  instance: Instance,
  entry: OptionsEntry,
): Promise<unknown> {
  const definition = await findProp(component, instance, entry.prop);
  if (definition.optionsMethod === undefined) return definition.fields.options ?? [];
  const inputs = await inputValues(definition.references, instance);
  const receiver = definition.optionsApp === undefined
    ? instance
    : appInstance(component, instance, definition.optionsApp);
  let pages = false;
  const found: unknown = await definition.optionsMethod.call(receiver, {
    ...inputs,
    get page() {
      pages = true;
      return entry.page ?? 0;
    },
    get prevContext() {
      pages = true;
      // Components destructure it on the first page too.
      return entry.prev_context ?? {};
    },
    query: entry.query ?? undefined,
  });
  return pages ? found : whole(found);
}

/** Options of a method that did not ask for the page: there is no other. */
function whole(found: unknown): unknown {
  if (Array.isArray(found)) return { options: found, is_whole: true };
  return isObject(found) ? { ...found, is_whole: true } : found;
}

/**
 * The props that `additionalProps` adds, and those of the component that it changed,
 * described like the static ones, by name.
 */
export async function callAdditionalProps(
  component: Component,
  instance: Instance,
): Promise<Record<string, PropDescription>> {
  const described: Record<string, PropDescription> = {};
  for (const prop of describeProps(await additionalProps(component, instance))) {
    described[prop.name] = prop;
  }
  return described;
}

async function additionalProps(
  component: Component,
  instance: Instance,
): Promise<Record<string, unknown>> {
  if (!isFunction(component.additionalProps)) return {};
  const own = copyOfProps(component);
  const before = texts(own);
  const added = await component.additionalProps.call(instance, own);
  const after = texts(own);
  // Some only change the definitions they are given, and return nothing.
  const changed = Object.entries(own)
    .filter(([name]) => after.get(name) !== before.get(name));
  return { ...Object.fromEntries(changed), ...(isObject(added) ? added : {}) };
}

/** The props' descriptions as text, to detect changes. */
function texts(props: Record<string, unknown>): Map<string, string> {
  return new Map(
    describeProps(props).map((prop) => [prop.name, JSON.stringify(prop)]),
  );
}

/** A method may change the definitions it is given; the component's own must stay. */
function copyOfProps(component: Component): Record<string, unknown> {
  const copies: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries(component.props ?? {})) {
    if (definition === undefined || definition === null) continue;
    copies[name] = { ...resolveProp(name, definition).fields };
  }
  return copies;
}

async function findProp(
  component: Component,
  instance: Instance,
  name: string,
): Promise<PropDefinition> {
  const definition = component.props?.[name] ??
    (await additionalProps(component, instance))[name];
  if (definition === undefined) throw new TypeError(`there is no prop "${name}"`);
  return resolveProp(name, definition);
}

async function inputValues(
  references: Reference[],
  instance: Instance,
): Promise<Record<string, unknown>> {
  const inputs: Record<string, unknown> = {};
  for (const { inputValues } of references.toReversed()) {
    const given = isFunction(inputValues)
      ? await inputValues.call(instance, instance)
      : inputValues;
    if (isObject(given)) Object.assign(inputs, given);
  }
  return inputs;
}

function appInstance(
  component: Component,
  instance: Instance,
  app: AppDefinition,
): unknown {
  const props = Object.entries(component.props ?? {});
  const owner = props.find(([, definition]) => definition === app) ??
    props.find(([, definition]) => isApp(definition) && definition.app === app.app);
  return owner ? instance[owner[0]] : createAppFactory(app)(undefined);
}
