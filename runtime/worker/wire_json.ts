/**
 * Fields of the worker's frames as JSON text, joined from strings.
 *
 * Not responsible for whole frames (`outbox.ts`), nor for values of components
 * (`json.ts`).
 */

import { objectKeys, stringSlice } from "./intrinsics.ts";
import { quote } from "./json.ts";
import type { EmitOptions, WireError } from "./protocol.ts";

export function errorJson({ name, message, stack, code, status }: WireError): string {
  let codeField = "";
  if (typeof code === "string") codeField = `,"code":${quote(code)}`;
  else if (code !== undefined) codeField = `,"code":${code}`;
  const statusField = status === undefined ? "" : `,"status":${status}`;
  return `{"name":${quote(name)},"message":${quote(message)},"stack":${
    quote(stack)
  }${codeField}${statusField}}`;
}

export function optionsJson(options: EmitOptions): string {
  let fields = "";
  const { id, name, summary, ts, delivery_ts } = options;
  if (typeof id === "string") fields += `,"id":${quote(id)}`;
  else if (id !== undefined) fields += `,"id":${id}`;
  if (name !== undefined) fields += `,"name":${quote(name)}`;
  if (summary !== undefined) fields += `,"summary":${quote(summary)}`;
  if (ts !== undefined) fields += `,"ts":${ts}`;
  if (delivery_ts !== undefined) fields += `,"delivery_ts":${delivery_ts}`;
  return `{${stringSlice(fields, 1)}}`;
}

export function headersJson(headers: Record<string, string | string[]>): string {
  let fields = "";
  for (const name of objectKeys(headers)) {
    const value = headers[name]!;
    const json = typeof value === "string" ? quote(value) : textsJson(value);
    fields += `,${quote(name)}:${json}`;
  }
  return `{${stringSlice(fields, 1)}}`;
}

function textsJson(texts: string[]): string {
  let items = "";
  for (let i = 0; i < texts.length; i++) items += `,${quote(texts[i]!)}`;
  return `[${stringSlice(items, 1)}]`;
}
