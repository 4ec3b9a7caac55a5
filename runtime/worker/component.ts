/**
 * A component as its module exports it.
 *
 * Responsible for importing the entry module and finding the component in it,
 * whatever the export form. Not responsible for describing its props
 * (`describe.ts`) nor for running it.
 */

import { Address, evaluateScript, OwnMap, readTextFile } from "./intrinsics.ts";
import type { LoadFrame } from "./protocol.ts";
import { translatePositions } from "./source_positions.ts";

export type ComponentFunction = (this: unknown, ...args: unknown[]) => unknown;
export type Definitions = Record<string, unknown>;

export interface AppDefinition {
  type: "app";
  app?: string;
  methods?: Definitions;
  propDefinitions?: Definitions;
  [property: string]: unknown;
}

export interface Component {
  type?: string;
  props?: Definitions;
  methods?: Definitions;
  hooks?: Definitions;
  additionalProps?: unknown;
  run?: unknown;
  [property: string]: unknown;
}

/** The name of `import.meta` in the scripts (`factory.rs`). */
const META = "__headwater_meta";
const COMPONENT_FIELDS = ["run", "props", "hooks", "methods", "propDefinitions"];

/** `defineComponent` and its kin only help editors; at run time they change nothing. */
export function installDefineFunctions(): void {
  for (const name of ["defineComponent", "defineSource", "defineAction", "defineApp"]) {
    Object.defineProperty(globalThis, name, {
      value: (definition: unknown) => definition,
      writable: true,
      configurable: true,
    });
  }
}

/** Evaluates the component's code: as a module of its own, or by a function that components share. */
export async function importComponent(
  { entry, is_factory }: Pick<LoadFrame, "entry" | "is_factory">,
): Promise<Component> {
  if (!is_factory) return findComponent(await import(entry));
  let create = factories.get(entry);
  if (create === undefined) factories.set(entry, create = createFactory(entry));
  return findComponent(await (await create)());
}

type Factory = () => Promise<Record<string, unknown>>;

/** By entry: what components of the same code share. */
const factories = new OwnMap<string, Promise<Factory>>();

/** The function of a script, with the imports of the module beside it. Its frames in stacks have the entry's name. */
async function createFactory(entry: string): Promise<Factory> {
  const imports = await import(new Address("imports.mjs", entry).href);
  const { dirname } = imports[META];
  const filename = `${dirname}${entry.slice(entry.lastIndexOf("/"))}`;
  const meta = { ...imports[META], url: entry, filename };
  const script = readTextFile(new Address(entry));
  translatePositions(entry);
  return evaluateScript(script, entry)({ ...imports, [META]: meta });
}

export function findComponent(namespace: Record<string, unknown>): Component {
  const exported = unwrapDefault(namespace);
  if (isObject(exported)) return exported as Component;
  if (exported === undefined && looksLikeComponent(namespace)) return namespace;
  throw new TypeError(
    exported === undefined
      ? "the component has no default export"
      : `the component's default export is not an object but a ${typeof exported}`,
  );
}

/** CommonJS that was compiled from a module carries its default one level deeper. */
function unwrapDefault(namespace: Record<string, unknown>): unknown {
  const exported = namespace.default ?? namespace["module.exports"];
  const isWrapped = isObject(exported) && isObject(exported.default) &&
    ("__esModule" in exported || !looksLikeComponent(exported));
  return isWrapped ? exported.default : exported;
}

function looksLikeComponent(value: Record<string, unknown>): boolean {
  return COMPONENT_FIELDS.some((field) => field in value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

export function isFunction(value: unknown): value is ComponentFunction {
  return typeof value === "function";
}

export function isApp(definition: unknown): definition is AppDefinition {
  return isObject(definition) && definition.type === "app";
}

export function isAction(component: Component): boolean {
  return component.type === "action";
}

/** The reason why this component cannot be run, or undefined when it can. */
export function missingRun(component: Component): string | undefined {
  if (isFunction(component.run) || component.type === "app") return undefined;
  return `the ${isAction(component) ? "action" : "source"} has no run method`;
}
