// Emits each new item of a feed once, oldest first.
//
//   headwater deploy examples/rss-timer.mjs --prop url=FEED_URL --prop timer=30s
import Parser from "rss-parser";
export default {
  name: "RSS feed",
  version: "0.0.1",
  dedupe: "unique",
  props: { url: "string", timer: "$.interface.timer" },
  async run() {
    const { items } = await new Parser().parseURL(this.url);
    for (const item of items.reverse()) {
      this.$emit(item, { id: item.guid ?? item.link, summary: item.title });
    }
  },
};
