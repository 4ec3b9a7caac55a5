/**
 * `$.send` of a workflow's step: messages that leave once the step is committed.
 *
 * Responsible for the arguments: an error names the field while the caller's stack is
 * known. Not responsible for sending anything.
 */

import { isObject } from "./component.ts";
import { reservedChannel } from "./emit.ts";
import { isArray, objectKeys, ownFields } from "./intrinsics.ts";
import { kindOf } from "./kinds.ts";
import type { StepEffects } from "./step_effects.ts";

type Fields = Record<string, unknown>;

const METHOD = /^[A-Z]+$/;

export function createSends(step: StepEffects): Record<string, unknown> {
  return {
    http: (request: unknown) => step.send("http", httpRequest(request)),
    email: (mail: unknown) => step.send("email", email(mail)),
    s3: (upload: unknown) => step.send("s3", s3Upload(upload)),
    emit: (event: unknown, channel?: unknown) => sendEvent(step, event, channel),
    sse: (message: unknown) => step.send("sse", sseMessage(message)),
  };
}

/** An event of the workflow; `{raw_event}` stands for its value. */
export function sendEvent(
  step: StepEffects,
  event: unknown,
  channel: unknown,
): void {
  const isWrapped = isObject(event) && "raw_event" in event &&
    objectKeys(event).length === 1;
  const value = {
    __proto__: null,
    event: (isWrapped ? event.raw_event : event) ?? null,
  };
  const name = optionalText("emit", "channel", channel) || undefined;
  const refusal = reservedChannel(name);
  if (refusal !== undefined) throw refusal;
  step.send("emit", name === undefined ? value : { ...value, channel: name });
}

/** The options of `this.$emit`, of which workflows have the channel only. */
export function channelOf(options: unknown): unknown {
  return isObject(options) ? options.name ?? options.channel : options;
}

function httpRequest(given: unknown): Fields {
  const { method, url, headers, params, data, auth } = fieldsOf("http", given);
  return ownFields({
    method: methodOf(method),
    url: urlOf(url),
    headers: texts("headers", headers),
    params: texts("params", params),
    data,
    auth: authOf(auth),
  });
}

function email(given: unknown): Fields {
  const { subject, text, html } = fieldsOf("email", given);
  return ownFields({
    subject: textOf("email", "subject", subject),
    text: optionalText("email", "text", text),
    html: optionalText("email", "html", html),
  });
}

function s3Upload(given: unknown): Fields {
  const { bucket, prefix, payload } = fieldsOf("s3", given);
  if (payload === undefined) throw invalid("s3", "payload", "be given", payload);
  return ownFields({
    bucket: nameOf("s3", "bucket", bucket),
    prefix: optionalText("s3", "prefix", prefix) ?? "",
    payload,
  });
}

function sseMessage(given: unknown): Fields {
  const { channel, payload } = fieldsOf("sse", given);
  const name = nameOf("sse", "channel", channel);
  return ownFields({ channel: name, payload: payload ?? null });
}

function fieldsOf(call: string, given: unknown): Fields {
  if (isObject(given)) return ownFields(given);
  throw new TypeError(`$.send.${call}: expected an object, not ${kindOf(given)}`);
}

function methodOf(given: unknown): string {
  const method = optionalText("http", "method", given)?.toUpperCase() ?? "GET";
  if (METHOD.test(method)) return method;
  throw invalid("http", "method", "be the name of an HTTP method", given);
}

function urlOf(given: unknown): string {
  const text = given instanceof URL ? given.href : given;
  if (typeof text === "string" && /^https?:\/\//i.test(text) && URL.canParse(text)) {
    return text;
  }
  throw invalid("http", "url", "be an http or https URL", given);
}

function authOf(given: unknown): Fields | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isObject(given)) {
    throw invalid("http", "auth", "be {username, password}", given);
  }
  const { username, password } = given;
  return ownFields({
    username: nameOf("http", "auth.username", username),
    password: optionalText("http", "auth.password", password) ?? "",
  });
}

/** Headers or parameters: texts, or lists of them. */
function texts(field: string, given: unknown): Fields | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isObject(given) || isArray(given)) {
    throw invalid("http", field, "be an object", given);
  }
  const all = Symbol.iterator in given
    ? Object.fromEntries(given as unknown as Iterable<[string, unknown]>)
    : given;
  const read = ownFields<Fields>({});
  const names = objectKeys(all);
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const value = all[name];
    if (value === undefined || value === null) continue;
    read[name] = listOrText(`${field}.${name}`, value);
  }
  return read;
}

function listOrText(place: string, value: unknown): string | string[] {
  if (!isArray(value)) return textOf("http", place, value);
  const list: string[] = [];
  for (let i = 0; i < value.length; i++) list[i] = textOf("http", place, value[i]);
  return list;
}

/** A name or an address. */
function nameOf(call: string, field: string, given: unknown): string {
  const name = textOf(call, field, given);
  if (name !== "") return name;
  throw invalid(call, field, "be a text that is not empty", given);
}

function textOf(call: string, field: string, given: unknown): string {
  const text = optionalText(call, field, given);
  if (text !== undefined) return text;
  throw invalid(call, field, "be a text", given);
}

function optionalText(call: string, field: string, given: unknown): string | undefined {
  switch (typeof given) {
    case "string":
      return given;
    case "number":
    case "bigint":
    case "boolean":
      return String(given);
    case "undefined":
      return undefined;
  }
  if (given === null) return undefined;
  throw invalid(call, field, "be a text", given);
}

function invalid(call: string, field: string, rule: string, given: unknown): TypeError {
  return new TypeError(`$.send.${call}: ${field} must ${rule}, not ${kindOf(given)}`);
}
