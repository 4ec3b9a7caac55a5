/**
 * The items of a feed in XML, with the fields that stored workflows read.
 *
 * Not responsible for fetching (`fetched_feed.ts`).
 */

import FeedParser from "npm:feedparser@2.2.10";

export type Item = Record<string, unknown>;

export function itemsOf(xml: string): Promise<Item[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Item[]>();
  const parser = new FeedParser({ addmeta: true });
  const items: Item[] = [];
  parser.on("error", reject);
  parser.on("data", (item: Item) => items.push(tidied(item)));
  parser.on("end", () => resolve(items));
  parser.end(xml);
  return promise;
}

/** Without fields that are empty, and without raw elements that a field was read from. */
function tidied(item: Item): Item {
  const title = textWithin(item["atom:title"]) ?? textWithin(item["rss:title"]);
  const filled: Item = title === undefined ? { ...item } : { ...item, title };
  for (const name of Object.keys(filled)) {
    if (isEmpty(filled[name])) delete filled[name];
    else delete filled[`rss:${name}`];
  }
  return filled;
}

/** The text of an element that has attributes too, whose markup the parser removes. */
function textWithin(element: unknown): unknown {
  const text = (element as { "#"?: unknown } | null | undefined)?.["#"];
  return text === "" ? undefined : text;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== "object" || value instanceof Date) return false;
  return Object.keys(value).length === 0;
}
