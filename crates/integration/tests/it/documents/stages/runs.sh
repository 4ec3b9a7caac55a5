cat >rss-feed.mjs <<'EOF'
export default {
  name: "RSS feed", version: "0.0.1", dedupe: "unique",
  run({ from }) {
    if (from === undefined) throw new Error("Status 503 from the feed");
    for (let id = from; id < from + 20; id++) this.$emit({ id }, { id });
  },
};
EOF
headwater deploy rss-feed.mjs
headwater run rss-feed --event '{"from": 0}'
headwater run rss-feed --event '{"from": 2}'
headwater run rss-feed --event '{}' || true
headwater runs rss-feed
