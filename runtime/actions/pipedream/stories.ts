/**
 * The stories of feeds, with the fields that the `retrieve-…-rss-stories` actions have
 * always returned.
 *
 * Knows RSS and Atom. Not responsible for telling new stories from known ones.
 */

import Parser from "npm:rss-parser@3.13.0";
import { listOf } from "../inputs.ts";
import { fetchFeed } from "../rss/fetched_feed.ts";

export interface Story {
  title?: string;
  link?: string;
  [field: string]: unknown;
}

export const FEEDS_PROP = {
  type: "string[]",
  label: "RSS feeds",
  description: "The URLs of one or more feeds.",
};

export const NO_STORIES = "No new stories";

export async function storiesOf(feeds: unknown): Promise<Story[]> {
  const stories: Story[] = [];
  for (const url of listOf("rss_feeds", feeds)) {
    const { text } = await fetchFeed(url);
    stories.push(...await read(url, text));
  }
  return stories;
}

async function read(url: unknown, text: string): Promise<Story[]> {
  try {
    const { items } = await new Parser().parseString(text);
    return items as Story[];
  } catch (error) {
    throw new Error(`${url} is not a feed that can be read`, { cause: error });
  }
}
