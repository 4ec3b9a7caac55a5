/**
 * Feeds as they are on the web: their text, or their items if they are JSON.
 *
 * Not responsible for reading XML (`feed_items.ts`).
 */

import { configurationError } from "../configuration_error.ts";

const ACCEPT = "application/rss+xml, application/atom+xml, application/feed+json, " +
  "application/xml;q=0.9, */*;q=0.8";
const JSON_TYPES = ["application/feed+json", "application/json"];
const TIMEOUT_MS = 60_000;

export interface FetchedFeed {
  isJson: boolean;
  text: string;
}

export async function fetchFeed(given: unknown): Promise<FetchedFeed> {
  const url = urlOf(given);
  const response = await fetch(url, {
    headers: { accept: ACCEPT },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw refusal(url, response.status);
  }
  const type = response.headers.get("content-type") ?? "";
  const bytes = new Uint8Array(await response.arrayBuffer());
  const essence = type.split(";")[0]!.trim().toLowerCase();
  return { isJson: JSON_TYPES.includes(essence), text: decoded(bytes, type) };
}

/** Many write a feed's address without its scheme. */
function urlOf(given: unknown): string {
  const url = String(given ?? "").trim();
  if (url === "") throw configurationError("the URL of a feed is empty: enter one");
  return /^https?:\/\//i.test(url) ? url : `https://${url}`;
}

/** Only the statuses that do not pass by themselves are a matter of configuration. */
function refusal(url: string, status: number): Error {
  if (status === 429) {
    return new Error(`${url} allows no more requests for now (status 429)`);
  }
  if (status >= 500) return new Error(`the server of ${url} fails (status ${status})`);
  if (status === 404) {
    return configurationError(`there is nothing at ${url} (status 404); check the URL`);
  }
  return configurationError(
    `${url} cannot be read (status ${status}); open it in a browser and check the URL`,
  );
}

/** The response's type tells the encoding, or the declaration that XML begins with. */
function decoded(bytes: Uint8Array, type: string): string {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
  const named = /charset\s*=\s*"?([\w-]+)/i.exec(type) ??
    /^\s*<\?xml[^>]*encoding\s*=\s*["']([\w-]+)/i.exec(start);
  try {
    return new TextDecoder(named?.[1] ?? "utf-8").decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
