/**
 * `pipedream_utils-retrieve-new-rss-stories`: the stories that no run has seen before.
 *
 * Known stories are in a data store, by their links. Not responsible for reading feeds
 * (`stories.ts`).
 */

import type { StepArguments } from "../step.ts";
import { FEEDS_PROP, NO_STORIES, storiesOf, type Story } from "./stories.ts";

/** The record that stores of former steps have. */
const RECORD = "previouslyPostedStories";
/** Older links are forgotten once no feed has them: a record cannot grow for ever. */
const MAX_PAST_LINKS = 2000;

interface DataStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<unknown>;
}

interface Props {
  dataStore: DataStore;
  rss_feeds: unknown;
}

export default {
  key: "pipedream_utils-retrieve-new-rss-stories",
  name: "Retrieve New RSS Stories",
  version: "0.0.2",
  type: "action",
  description:
    "Get the stories of one or more feeds that no run has returned before. " +
    "Ends the run if there is none.",
  props: {
    dataStore: { type: "data_store" },
    rss_feeds: FEEDS_PROP,
  },
  async run(this: Props, { $ }: StepArguments) {
    const known = (await this.dataStore.get(RECORD) ?? []) as unknown[];
    const stories = await storiesOf(this.rss_feeds);
    const isKnown = new Set(known);
    const fresh = stories.filter(({ link }) => !isKnown.has(link));
    if (fresh.length === 0) $.flow.exit(NO_STORIES);
    else await this.dataStore.set(RECORD, remembered(known, stories));
    return fresh;
  },
};

function remembered(known: unknown[], stories: Story[]): unknown[] {
  const present = new Set<unknown>(stories.map(({ link }) => link));
  const past = known.filter((link) => !present.has(link));
  return [...past.slice(-MAX_PAST_LINKS), ...present];
}
