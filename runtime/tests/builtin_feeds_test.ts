/** Actions that read feeds. */

import assert from "node:assert/strict";
import { failureOf, runAction, startServer } from "./builtin_steps.ts";

const MERGE = "rss-merge-rss-feeds";
const ALL = "pipedream_utils-retrieve-all-rss-stories";
const NEW = "pipedream_utils-retrieve-new-rss-stories";

const rss = (items: string) =>
  `<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>News</title>
  <link>https://news.example/</link>${items}</channel></rss>`;

const item = (number: number, date = "") =>
  `<item><title>Story ${number} &amp; more</title><link>https://news.example/${number}</link>
  <guid>id-${number}</guid><description>About ${number}</description>
  ${date && `<pubDate>${date}</pubDate>`}</item>`;

const ATOM = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">
  <title>Log</title><entry><title type="html">An &lt;b&gt;entry&lt;/b&gt;</title>
  <link href="https://log.example/1"/><id>urn:1</id>
  <updated>2026-01-02T00:00:00Z</updated></entry></feed>`;

const JSON_FEED = {
  version: "https://jsonfeed.org/version/1.1",
  items: [{ id: "j", title: "JSON", date_published: "2026-01-03T00:00:00Z" }],
};

/** A server with a feed at each path; an unknown path has the status that it names. */
function feeds(texts: Record<string, string | Uint8Array<ArrayBuffer>>) {
  return startServer(({ path }) => {
    const text = texts[path];
    if (text === undefined) {
      return new Response("no", { status: Number(path.slice(1)) });
    }
    const type = path.startsWith("/json")
      ? "application/json; charset=utf-8"
      : "text/xml";
    return new Response(text, { headers: { "content-type": type } });
  });
}

Deno.test("the items of several feeds are merged, the newest first", async () => {
  await using server = feeds({
    "/rss": rss(
      item(1, "Thu, 01 Jan 2026 00:00:00 GMT") +
        item(2, "Sun, 04 Jan 2026 00:00:00 GMT"),
    ),
    "/atom": ATOM,
    "/json": JSON.stringify(JSON_FEED),
  });
  // Stored lists may have a line break after a URL.
  const urls = [`${server.url}/rss\n`, `${server.url}/atom`, `${server.url}/json`];
  const { returned, exports } = await runAction(MERGE, { urls });
  const titles = returned.map((one: { title: string }) => one.title);
  assert.deepEqual(titles, [
    ...["Story 2 & more", "JSON", "An <b>entry</b>", "Story 1 & more"],
  ]);
  assert.match(exports.$summary, /4 items of 3 feeds/);
  const stored = JSON.parse(JSON.stringify(returned));
  assert.equal(stored[0].link, "https://news.example/2");
  assert.equal(stored[0].guid, "id-2");
  assert.equal(stored[0].description, "About 2");
  assert.equal(stored[0].pubdate, "2026-01-04T00:00:00.000Z");
  assert.equal(stored[0].meta.title, "News");
  assert.ok(!("rss:link" in stored[0]) && !("author" in stored[0]));
  assert.equal(stored[2].link, "https://log.example/1");
});

Deno.test("items without a date come first", async () => {
  await using server = feeds({
    "/rss": rss(item(1, "Thu, 01 Jan 2026 00:00:00 GMT") + item(2)),
  });
  const { returned } = await runAction(MERGE, { urls: [`${server.url}/rss`] });
  assert.deepEqual(returned.map((one: { guid: string }) => one.guid), ["id-2", "id-1"]);
});

Deno.test("a feed is read in the encoding that it names", async () => {
  const text = rss("<item><title>Café</title></item>").replace("utf-8", "ISO-8859-1");
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  await using server = feeds({ "/rss": bytes });
  const { returned } = await runAction(MERGE, { urls: [`${server.url}/rss`] });
  assert.equal(returned[0].title, "Café");
});

Deno.test("a feed that cannot be read is an error that says why", async () => {
  await using server = feeds({ "/page": "<html><p>Hello</p></html>", "/json": "{" });
  for (
    const [path, name, message] of [
      ["/404", "ConfigurationError", /there is nothing at/],
      ["/403", "ConfigurationError", /cannot be read \(status 403\)/],
      ["/429", "Error", /allows no more requests/],
      ["/503", "Error", /fails \(status 503\)/],
      ["/page", "Error", /is not a feed that can be read/],
      ["/json", "Error", /is not a feed that can be read/],
    ] as const
  ) {
    const error = await failureOf(MERGE, { urls: [server.url + path] });
    assert.equal(error.name, name, path);
    assert.match(error.message, message);
  }
  const empty = await failureOf(MERGE, { urls: [" "] });
  assert.match(empty.message, /the URL of a feed is empty/);
});

Deno.test("every story of a feed is returned, with the fields of stories", async () => {
  await using server = feeds({ "/rss": rss(item(1, "Thu, 01 Jan 2026 00:00:00 GMT")) });
  const { returned, exits } = await runAction(ALL, {
    rss_feeds: [`${server.url}/rss`],
  });
  assert.deepEqual(exits, []);
  assert.deepEqual(returned, [{
    title: "Story 1 & more",
    link: "https://news.example/1",
    guid: "id-1",
    pubDate: "Thu, 01 Jan 2026 00:00:00 GMT",
    isoDate: "2026-01-01T00:00:00.000Z",
    content: "About 1",
    contentSnippet: "About 1",
  }]);
});

Deno.test("a run ends if a feed has no story", async () => {
  await using server = feeds({ "/rss": rss("") });
  const { returned, exits } = await runAction(ALL, {
    rss_feeds: [`${server.url}/rss`],
  });
  assert.deepEqual([returned, exits], [[], ["No new stories"]]);
});

Deno.test("a story is new once", async () => {
  const records = new Map<string, any>();
  const dataStore = {
    get: (key: string) => Promise.resolve(records.get(key)),
    set: (key: string, value: unknown) => Promise.resolve(records.set(key, value)),
  };
  const texts: Record<string, string> = { "/rss": rss(item(1) + item(2)) };
  await using server = feeds(texts);
  const props = { dataStore, rss_feeds: [`${server.url}/rss`] };
  const links = async () => {
    const { returned, exits } = await runAction(NEW, props);
    assert.deepEqual(exits, returned.length === 0 ? ["No new stories"] : []);
    return returned.map((story: { link: string }) => story.link);
  };
  assert.deepEqual(await links(), ["https://news.example/1", "https://news.example/2"]);
  assert.deepEqual(await links(), []);
  texts["/rss"] = rss(item(3) + item(2));
  assert.deepEqual(await links(), ["https://news.example/3"]);
  texts["/rss"] = rss(item(1));
  assert.deepEqual(await links(), []);
  assert.equal(records.get("previouslyPostedStories").length, 3);
});

Deno.test("links that no feed has any more are forgotten in time", async () => {
  const known = Array.from({ length: 5000 }, (_, i) => `https://old.example/${i}`);
  let stored: unknown[] = known;
  const dataStore = {
    get: () => Promise.resolve(stored),
    set: (_: string, value: unknown[]) => Promise.resolve(stored = value),
  };
  await using server = feeds({ "/rss": rss(item(1)) });
  await runAction(NEW, { dataStore, rss_feeds: [`${server.url}/rss`] });
  assert.equal(stored.length, 2001);
  assert.deepEqual(stored.slice(-2), [
    "https://old.example/4999",
    "https://news.example/1",
  ]);
});
