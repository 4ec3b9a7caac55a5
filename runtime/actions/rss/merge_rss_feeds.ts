/**
 * `rss-merge-rss-feeds`: the items of several feeds in one list, the newest first.
 *
 * Not responsible for telling new items from known ones.
 */

import { listOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";
import { type Item, itemsOf } from "./feed_items.ts";
import { fetchFeed } from "./fetched_feed.ts";

export default {
  key: "rss-merge-rss-feeds",
  name: "Merge RSS Feeds",
  version: "1.2.7",
  type: "action",
  description: "Fetch several feeds and return their items in one list, the newest " +
    "first. RSS, Atom and JSON feeds are understood.",
  props: {
    urls: {
      type: "string[]",
      label: "Feed URLs",
      description: "The URLs of one or more feeds.",
    },
  },
  async run(this: { urls: unknown }, { $ }: StepArguments) {
    const urls = listOf("urls", this.urls);
    const items: Item[] = [];
    for (const url of urls) items.push(...await itemsAt(url));
    $.export("$summary", `Merged ${items.length} items of ${urls.length} feeds`);
    return newestFirst(items);
  },
};

async function itemsAt(url: unknown): Promise<Item[]> {
  const { isJson, text } = await fetchFeed(url);
  try {
    return isJson ? JSON.parse(text)?.items ?? [] : await itemsOf(text);
  } catch (error) {
    throw new Error(`${url} is not a feed that can be read`, { cause: error });
  }
}

/** Items without a date count as new. */
function newestFirst(items: Item[]): Item[] {
  const now = Date.now();
  const timeOf = ({ pubdate, pubDate, date_published }: Item) => {
    const date = pubdate ?? pubDate ?? date_published;
    const time = date ? new Date(date as string).getTime() : NaN;
    return Number.isNaN(time) ? now : time;
  };
  const timed = items.map((item) => ({ item, time: timeOf(item) }));
  return timed.sort((a, b) => b.time - a.time).map(({ item }) => item);
}
