/**
 * `this.<prop>` of an `http_request` prop: a configured request, ready to be sent.
 *
 * Responsible for turning the configured fields into a request and its response into
 * the shape that components expect. Not responsible for validation, which is the host's.
 */

import { isObject } from "./component.ts";
import { setOwn } from "./methods.ts";

type Fields = [name: string, value: string][];
type Body = BodyInit | undefined;

const NO_BODY = new Set(["GET", "HEAD"]);

export function createHttpRequest(config: Record<string, unknown>): object {
  const request = { ...config };
  setOwn(request, "execute", () => execute(request), false);
  return request;
}

async function execute(config: Record<string, unknown>): Promise<unknown> {
  const method = String(config.method ?? "GET").toUpperCase();
  const url = new URL(String(config.url));
  for (const [name, value] of fieldsOf(config.params)) {
    url.searchParams.append(name, value);
  }
  const headers = new Headers(fieldsOf(config.headers));
  authorize(headers, config.auth);
  const body = NO_BODY.has(method) ? undefined : bodyOf(config, headers);
  const response = await fetch(url, { method, headers, body: body ?? null });
  const data = parsed(await response.text());
  if (!response.ok) throw failure(response, data);
  return withResponse(data, response);
}

/** Fields come as a list or as an object; disabled ones are left out. */
function fieldsOf(given: unknown): Fields {
  if (!isObject(given)) return [];
  if (!Array.isArray(given)) {
    return Object.entries(given)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, String(value)]);
  }
  return given
    .filter((field) => isObject(field) && field.disabled !== true && field.name)
    .map(({ name, value }) => [String(name), String(value ?? "")]);
}

function authorize(headers: Headers, auth: unknown): void {
  if (!isObject(auth) || auth.type === "none") return;
  const kind = auth.type ?? (auth.token ? "bearer" : "basic");
  if (kind === "bearer") headers.set("authorization", `Bearer ${auth.token}`);
  if (kind !== "basic" || !auth.username) return;
  const pair = new TextEncoder().encode(`${auth.username}:${auth.password ?? ""}`);
  headers.set("authorization", `Basic ${btoa(String.fromCharCode(...pair))}`);
}

function bodyOf(config: Record<string, unknown>, headers: Headers): Body {
  const body = config.body ?? config.data;
  if (body === undefined || body === null) return undefined;
  if (!isObject(body)) return textBody(String(body), headers);
  const type = typeof body.contentType === "string" ? body.contentType : undefined;
  // Both names are in use in stored configurations.
  switch (body.type ?? body.mode) {
    case "fields":
      return fieldsBody(fieldsOf(body.fields), type, headers);
    case "raw":
      if (type !== undefined) setDefault(headers, type);
      return textBody(String(body.raw ?? ""), headers);
  }
  setDefault(headers, "application/json");
  return JSON.stringify(body);
}

function fieldsBody(fields: Fields, type: string | undefined, headers: Headers): Body {
  if (type === "multipart/form-data") {
    // Only the form knows its boundary.
    headers.delete("content-type");
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    return form;
  }
  if (type === "application/x-www-form-urlencoded") return new URLSearchParams(fields);
  setDefault(headers, type ?? "application/json");
  return JSON.stringify(Object.fromEntries(fields));
}

function textBody(text: string, headers: Headers): string {
  if (typeof parsed(text) !== "string") setDefault(headers, "application/json");
  return text;
}

function setDefault(headers: Headers, contentType: string): void {
  if (!headers.has("content-type")) headers.set("content-type", contentType);
}

/** JSON, whatever the response's content type, as components expect. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The data itself, which knows its status and headers unless it has such fields. */
function withResponse(data: unknown, response: Response): unknown {
  if (!isObject(data)) return data;
  const known = { status: response.status, headers: headersOf(response) };
  for (const [name, value] of Object.entries(known)) {
    if (!(name in data)) setOwn(data, name, value, false);
  }
  return data;
}

function failure(response: Response, data: unknown): Error {
  const { status, statusText } = response;
  const error = new Error(`Request failed with status code ${status}`);
  const code = status < 500 ? "ERR_BAD_REQUEST" : "ERR_BAD_RESPONSE";
  return Object.assign(error, {
    code,
    response: { status, statusText, headers: headersOf(response), data },
  });
}

function headersOf(response: Response): Record<string, string> {
  return Object.fromEntries(response.headers);
}
