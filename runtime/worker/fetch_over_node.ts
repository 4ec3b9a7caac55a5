/**
 * `fetch` implemented with Node's request functions: one request to its response, with
 * redirects and content decoding.
 *
 * For hosts whose routes only Node's functions can follow. Not responsible for routing
 * connections.
 */

import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import zlib from "node:zlib";
import { USER_AGENT } from "./node_fetch.ts";

const REDIRECTS_MAX = 20;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const WITHOUT_BODY = new Set([101, 204, 205, 304]);
/** Headers about a body which is no longer sent. */
const OF_BODY = ["encoding", "language", "length", "location", "type"];
const OF_ORIGIN = ["authorization", "cookie", "host", "proxy-authorization"];

export async function fetchOverNode(request: Request): Promise<Response> {
  const body = request.body === null ? null : await request.bytes();
  let hop: Hop = {
    url: new URL(request.url),
    method: request.method,
    headers: new Headers(request.headers),
    body,
  };
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const message = await answerTo(hop, request.signal);
    const location = redirectOf(message, hop.url);
    if (location === undefined || request.redirect === "manual") {
      return responseOf(message, hop, redirects > 0);
    }
    message.resume();
    if (request.redirect === "error") {
      throw new TypeError(`${hop.url} redirects, which the request forbids`);
    }
    hop = nextHop(hop, location, message.statusCode);
  }
  throw new TypeError(`more than ${REDIRECTS_MAX} redirects`);
}

/** One request of a redirect chain. */
interface Hop {
  url: URL;
  method: string;
  headers: Headers;
  body: Uint8Array | null;
}

async function answerTo(hop: Hop, signal: AbortSignal): Promise<http.IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const request = hop.url.protocol === "http:" ? http.request : https.request;
  const { method } = hop;
  const headers = {
    "accept": "*/*",
    "accept-encoding": "gzip, br",
    "user-agent": USER_AGENT,
    ...Object.fromEntries(hop.headers),
  };
  request(hop.url, { method, headers, signal }, resolve)
    .on("error", reject).end(hop.body ?? undefined);
  try {
    return await promise;
  } catch (cause) {
    signal.throwIfAborted();
    throw new TypeError(`error sending request for url (${hop.url})`, { cause });
  }
}

function redirectOf(message: http.IncomingMessage, base: URL): URL | undefined {
  const { statusCode, headers: { location } } = message;
  if (location === undefined || !REDIRECTS.has(statusCode ?? 0)) return undefined;
  return URL.canParse(location, base) ? new URL(location, base) : undefined;
}

function nextHop(hop: Hop, url: URL, status: number | undefined): Hop {
  const headers = new Headers(hop.headers);
  if (url.origin !== hop.url.origin) OF_ORIGIN.forEach((name) => headers.delete(name));
  const isRead = hop.method === "GET" || hop.method === "HEAD";
  const becomesGet = status === 303 ? !isRead : hop.method === "POST" &&
    (status === 301 || status === 302);
  if (!becomesGet) return { ...hop, url, headers };
  OF_BODY.forEach((name) => headers.delete(`content-${name}`));
  return { url, method: "GET", headers, body: null };
}

function responseOf(
  message: http.IncomingMessage,
  { url, method }: Hop,
  redirected: boolean,
): Response {
  const status = message.statusCode ?? 0;
  const headers = headersOf(message);
  const hasBody = method !== "HEAD" && !WITHOUT_BODY.has(status);
  if (!hasBody) message.resume();
  const body = hasBody ? decoded(message, headers) : null;
  const statusText = message.statusMessage ?? "";
  const response = new Response(body, { status, statusText, headers });
  Object.defineProperty(response, "url", { value: url.href });
  Object.defineProperty(response, "redirected", { value: redirected });
  return response;
}

function headersOf({ rawHeaders }: http.IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  }
  return headers;
}

function decoded(
  message: http.IncomingMessage,
  headers: Headers,
): ReadableStream<Uint8Array> {
  const decoder = decoderOf(headers.get("content-encoding"));
  if (decoder === undefined) return toWeb(message);
  headers.delete("content-encoding");
  headers.delete("content-length");
  message.on("error", (error) => decoder.destroy(error));
  return toWeb(message.pipe(decoder));
}

function decoderOf(encoding: string | null) {
  switch (encoding?.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      return zlib.createInflate();
    case "br":
      return zlib.createBrotliDecompress();
    default:
      return undefined;
  }
}

function toWeb(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as unknown as ReadableStream<Uint8Array>;
}
