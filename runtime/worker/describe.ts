/**
 * A component's description, as the host stores it.
 *
 * Responsible for a JSON description with every propDefinition inlined. Not
 * responsible for judging it: required fields and prop values are the host's rules.
 */

import {
  type Component,
  type Definitions,
  isFunction,
  isObject,
  missingRun,
} from "./component.ts";
import { toJson } from "./json.ts";
import { resolveProp } from "./prop_definition.ts";
import type { Description, PropDescription } from "./protocol.ts";

/** Parts of an app's definition that are code, not description. */
const CODE_FIELDS = new Set(["methods", "propDefinitions", "name"]);

const MAX_SAMPLE_BYTES = 64 * 1024;

/** The description as JSON text. */
export function describeComponent(component: Component): string {
  const missing = missingRun(component);
  if (missing !== undefined) {
    // Nothing of the component's own ran: a stack would show ours.
    throw Object.assign(new TypeError(missing), { code: "NO_RUN", exposeStack: false });
  }
  const hooks: Definitions = isObject(component.hooks) ? component.hooks : {};
  const description: Description = {
    name: jsonable(component.name),
    key: jsonable(component.key),
    version: jsonable(component.version),
    type: typeof component.type === "string" ? component.type : "source",
    description: jsonable(component.description),
    dedupe: jsonable(component.dedupe),
    props: describeProps(component.props),
    hooks: {
      deploy: isFunction(hooks.deploy),
      activate: isFunction(hooks.activate),
      deactivate: isFunction(hooks.deactivate),
    },
    has_additional_props: isFunction(component.additionalProps),
    has_run: isFunction(component.run),
    sample_emit: sampleOf(component.sampleEmit),
  };
  return toJson(description, "the component's description")!;
}

/** A sample event of the component, unless it is too large to be stored with the rest. */
function sampleOf(sample: unknown): unknown {
  const json = jsonable(sample);
  const text = toJson(json, "sampleEmit") ?? "";
  return text.length <= MAX_SAMPLE_BYTES ? json : undefined;
}

/** In declaration order; entries without a definition are skipped. */
export function describeProps(props: unknown): PropDescription[] {
  if (!isObject(props)) return [];
  return Object.entries(props)
    .filter(([, definition]) => definition !== undefined && definition !== null)
    .map(([name, definition]) => describeProp(name, definition));
}

function describeProp(name: string, definition: unknown): PropDescription {
  const { type, fields, optionsMethod } = resolveProp(name, definition);
  const described: PropDescription = { name, type };
  for (const [field, value] of Object.entries(fields)) {
    if (field === "type" || CODE_FIELDS.has(field)) continue;
    const json = jsonable(value);
    if (json !== undefined) described[field] = json;
  }
  if (optionsMethod !== undefined) {
    described.has_options = true;
    described.use_query = fields.useQuery === true;
  }
  return described;
}

function jsonable(value: unknown): unknown {
  if (value === undefined || isFunction(value) || typeof value === "symbol") {
    return undefined;
  }
  try {
    return JSON.parse(toJson(value, "value") ?? "null");
  } catch {
    return undefined;
  }
}
