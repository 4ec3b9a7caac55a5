//! Weights of a page, and a browser's times with it: until it shows something, from an event's id to its row, and from a
//! key or a press to what it shows.
//!
//! Weights are judged. Times, and how far things move, are told, as the machine may be busy with other tests:
//! `headwater-benches ui` measures what the node takes of them.

use headwater_integration::{Chromium, Node, Tab, tell};
use serde_json::{Value, json};
use thirtyfour::Key;

const ORDERS: &str = "export default { name: 'Orders', version: '0.0.1', props: { http: '$.interface.http' }, \
    run({ from, count }) { for (let at = from; at < from + count; at++) \
      this.$emit({ at, customer: 'somebody', total: 12.5 }, { summary: `Order ${at}` }); } }";

const KIB: u64 = 1_024;
/// Events that come one after the other while somebody looks.
const COMING: usize = 50;

/// The page and everything that it loaded, but for streams.
const LOADED: &str = "const entries = ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type));
    return entries.filter((one) => !one.name.includes('/live'))
      .map((one) => ({ path: new URL(one.name).pathname, bytes: one.encodedBodySize, is_sent: one.transferSize > 0 }));";
/// Times since the page was asked for, in milliseconds, and how far things moved after they were seen.
const TIMES: &str = "const seen = (type) => new Promise((done) => {
      new PerformanceObserver((list) => done(list.getEntries())).observe({ type, buffered: true });
      setTimeout(() => done([]), 1000);
    });
    const [largest] = (await seen('largest-contentful-paint')).slice(-1);
    const shifts = await seen('layout-shift');
    return { byte: performance.getEntriesByType('navigation')[0].responseStart,
      first: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
      largest: largest?.startTime ?? 0, moved: shifts.reduce((sum, one) => sum + one.value, 0) };";
/// Notes the milliseconds from each event's id, which has the time of its commit, to its row.
const WATCHED: &str = "window.__late = [];
    const note = (row) => {
      const [ms] = row.querySelector('a[href*=\"/events/\"]').getAttribute('href').split('/').pop().split('-');
      window.__late.push(Date.now() - Number(ms));
    };
    const noted = (one) => [...one.addedNodes].filter((row) => row.nodeType === Node.ELEMENT_NODE).forEach(note);
    new MutationObserver((changes) => changes.forEach(noted))
      .observe(document.querySelector('[data-rows]'), { childList: true });";

/// Notes how long each key and press takes until the page shows what it does, in milliseconds, from 16 on.
const PRESSED: &str = "window.__pressed = [];
    new PerformanceObserver((list) => window.__pressed.push(...list.getEntries().filter((one) => one.interactionId)
      .map((one) => one.duration))).observe({ type: 'event', durationThreshold: 16 });";
/// The longest of those, once what was pressed last is shown; the threshold, if all were shorter.
const LONGEST: &str = "await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return Math.max(16, ...window.__pressed);";

/// The bytes of what was loaded under names that end like this.
fn bytes(loaded: &[Value], ending: &str) -> u64 {
    let of_kind = loaded.iter().filter(|one| {
        let path = one["path"].as_str().unwrap();
        path.ends_with(ending)
    });
    of_kind.map(|one| one["bytes"].as_u64().unwrap()).sum()
}

async fn loaded(tab: &Tab<'_>) -> Vec<Value> {
    tab.run(LOADED).await.as_array().unwrap().clone()
}

#[tokio::test]
async fn a_page_of_50_rows_is_light_and_its_times_are_told() {
    let node = Node::start().await;
    let source = node.deploy(ORDERS, json!({})).await;
    node.run(&source, json!({"from": 0, "count": 60})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let path = format!("/sources/{}", source.id);
    // Everything that a page is made of is loaded once, with the page that signs in.
    tab.open(&path).await;
    tab.sees_text("[data-live-state]", "Live").await;
    assert_eq!(tab.count("[data-rows] tr").await, 50);
    let warm = loaded(&tab).await;
    let sent = warm.iter().filter(|one| one["is_sent"] == true);
    assert_eq!(sent.count(), 1, "the page alone: {warm:#?}");
    assert!(warm.len() <= 4, "{warm:#?}");
    for (ending, most) in [
        (source.id.as_str(), 30 * KIB),
        (".css", 12 * KIB),
        (".js", 15 * KIB),
    ] {
        let bytes = bytes(&warm, ending);
        assert!(
            (1..=most).contains(&bytes),
            "{ending}: {bytes} bytes, {warm:#?}"
        );
    }
    let times = tab.run(TIMES).await;
    tab.run(WATCHED).await;
    for at in 0..COMING {
        node.run(&source, json!({"from": 60 + at, "count": 1}))
            .await;
    }
    let last = format!("Order {}", 59 + COMING);
    tab.sees_text("[data-rows] tr:first-child", &last).await;
    let late = tab
        .evaluate("window.__late.sort((one, other) => one - other)")
        .await;
    let late = late.as_array().unwrap();
    assert_eq!(late.len(), COMING);
    let longest = used(&tab).await;
    tell(&format!(
        "the page of a source: first byte after {} ms, something seen after {} ms, the largest after {} ms (budget: 500), \
         moved by {} (budget: 0); rows of {COMING} events after {} ms (p50; budget: 50), {} ms (worst; budget of p99: 250); the longest from a key or a \
         press to what it shows {longest} ms (budget: 100)",
        times["byte"],
        times["first"],
        times["largest"],
        times["moved"],
        late[COMING / 2],
        late[COMING - 1]
    ));
}

/// Uses the page by keys and presses, and returns the longest time that one of them took, in milliseconds.
async fn used(tab: &Tab<'_>) -> Value {
    tab.run(PRESSED).await;
    tab.type_keys("jjk?").await;
    tab.sees("#keys[open]").await;
    tab.type_keys(Key::Escape).await;
    tab.chord(Key::Control + "k").await;
    tab.type_keys("shop").await;
    tab.sees_text("#palette-list li:last-child", "Search events")
        .await;
    tab.type_keys(Key::Escape).await;
    tab.press("[data-live-pause]").await;
    tab.press(".person summary").await;
    tab.run(LONGEST).await
}
