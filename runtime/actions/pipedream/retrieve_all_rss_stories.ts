/**
 * `pipedream_utils-retrieve-all-rss-stories`: every story of some feeds.
 *
 * Not responsible for reading feeds (`stories.ts`).
 */

import type { StepArguments } from "../step.ts";
import { FEEDS_PROP, NO_STORIES, storiesOf } from "./stories.ts";

export default {
  key: "pipedream_utils-retrieve-all-rss-stories",
  name: "Retrieve all RSS Stories",
  version: "0.0.2",
  type: "action",
  description: "Get every story of one or more feeds. Ends the run if there is none.",
  props: { rss_feeds: FEEDS_PROP },
  async run(this: { rss_feeds: unknown }, { $ }: StepArguments) {
    const stories = await storiesOf(this.rss_feeds);
    if (stories.length === 0) $.flow.exit(NO_STORIES);
    return stories;
  },
};
