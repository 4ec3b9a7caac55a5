/**
 * The argument of `respond`: an HTTP response as components write it.
 *
 * Responsible for the status, the header values and the body's encoding. Not
 * responsible for sending it nor for the host's default response.
 */

import { Buffer } from "node:buffer";
import { toJson } from "./json.ts";
import type { HttpResponse } from "./protocol.ts";

/** @param usual is the status of a response without one, if it may be without */
export function normalizeResponse(response: unknown, usual?: number): HttpResponse {
  if (typeof response !== "object" || response === null) {
    throw new TypeError("respond: expected an object with status, headers and body");
  }
  const { status: given, headers, body } = response as Record<string, unknown>;
  const status = given ?? usual;
  const wireHeaders = readHeaders(headers);
  const bytes = readBytes(body);
  if (bytes !== undefined) {
    const text = bytes.toString("base64");
    return {
      status: readStatus(status),
      headers: wireHeaders,
      body: text,
      encoding: "base64",
    };
  }
  return {
    status: readStatus(status),
    headers: wireHeaders,
    body: readText(body, wireHeaders),
    encoding: "utf8",
  };
}

function readStatus(status: unknown): number {
  const number = typeof status === "string" ? Number(status) : status;
  if (
    Number.isInteger(number) && (number as number) >= 100 && (number as number) <= 599
  ) {
    return number as number;
  }
  throw new TypeError(
    `respond: status must be an integer from 100 to 599, not ${status}`,
  );
}

function readHeaders(headers: unknown): Record<string, string | string[]> {
  if (headers === undefined || headers === null) return {};
  if (typeof headers !== "object") {
    throw new TypeError("respond: headers must be an object");
  }
  const entries = headers instanceof Headers ? headers : Object.entries(headers);
  const wire: Record<string, string | string[]> = {};
  for (const [name, value] of entries) {
    if (value === undefined || value === null) continue;
    wire[name] = Array.isArray(value) ? value.map(String) : String(value);
  }
  return wire;
}

function readBytes(body: unknown): Buffer | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  if (ArrayBuffer.isView(body)) {
    return Buffer.from(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength);
  }
  return body instanceof ArrayBuffer ? Buffer.from(body) : undefined;
}

/** The body as text. Adds a content type unless the component set one; HTML needs an explicit one. */
function readText(body: unknown, headers: Record<string, string | string[]>): string {
  if (body === undefined || body === null) return "";
  if (typeof body === "string") {
    if (body !== "" && !hasContentType(headers)) {
      headers["content-type"] = "text/plain; charset=utf-8";
    }
    return body;
  }
  if (typeof body === "object" && !hasContentType(headers)) {
    headers["content-type"] = "application/json; charset=utf-8";
  }
  return toJson(body, "respond: body") ?? "";
}

function hasContentType(headers: Record<string, unknown>): boolean {
  for (const name in headers) {
    if (name.length === 12 && name.toLowerCase() === "content-type") return true;
  }
  return false;
}
