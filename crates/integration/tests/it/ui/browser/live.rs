//! Rows and states that come while one looks.

use headwater_integration::{Chromium, Node, Receiver, Reply};
use serde_json::json;

use crate::workflows::{Folder, HTTP, waiting};

const ECHO: &str = "export default { name: 'Echo', version: '0.0.1', props: { http: '$.interface.http' }, \
    run(event) { if (event.fails) throw new Error('the API is away'); \
      console.log('a line of the log'); \
      this.$emit(event.body, { summary: `Order ${event.body.order}` }); } }";

/// Emits as many events as it is told.
const MANY: &str = "export default { name: 'Many', version: '0.0.1', props: { http: '$.interface.http' }, \
    run({ from, count }) { for (let at = from; at < from + count; at++) this.$emit({ at }, { summary: `Event ${at}` }); } }";

#[tokio::test]
async fn an_event_appears_while_one_looks_and_none_twice() {
    let node = Node::start().await;
    let source = node.deploy(ECHO, json!({})).await;
    node.run(&source, json!({"body": {"order": 1}})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&format!("/sources/{}", source.id)).await;
    tab.sees_text("[data-live-state]", "Live").await;
    assert_eq!(tab.count("[data-rows] tr").await, 1);
    node.run(&source, json!({"body": {"order": 2}})).await;
    tab.sees_text("[data-rows] tr:first-child", "Order 2").await;
    // Paused, they are counted; then they come, in their order.
    tab.press("[data-live-pause]").await;
    for order in 3..6 {
        node.run(&source, json!({"body": {"order": order}})).await;
    }
    tab.sees_text("[data-live-show]", "Show 3 new").await;
    assert_eq!(tab.count("[data-rows] tr").await, 2);
    tab.press("[data-live-show]").await;
    tab.sees_text("[data-rows] tr:first-child", "Order 5").await;
    // In the background there is no stream; in front again it goes on where it was.
    assert_eq!(tab.streams().await, 1);
    tab.cover(true).await;
    assert_eq!(tab.streams().await, 0);
    node.run(&source, json!({"body": {"order": 6}})).await;
    tab.cover(false).await;
    tab.sees_text("[data-rows] tr:first-child", "Order 6").await;
    assert_eq!(tab.streams().await, 1);
    let rows = tab
        .evaluate("[...document.querySelectorAll('[data-rows] th')].map((row) => row.innerText)")
        .await;
    assert_eq!(
        rows,
        json!([
            "Order 6", "Order 5", "Order 4", "Order 3", "Order 2", "Order 1"
        ])
    );
    tab.sees_text("[data-live-count]", "5 came since you opened")
        .await;
    tab.sees_text("[data-in-all]", "6 in all").await;
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn cells_of_sources_and_home_change_and_keep_the_focus() {
    let node = Node::start().await;
    let source = node.deploy(ECHO, json!({})).await;
    node.deploy(ECHO, json!({})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let row = format!("tr[data-row='{}']", source.id);
    tab.open("/sources").await;
    tab.sees_text(&row, "waiting").await;
    tab.sees_text("[data-live-state]", "Live").await;
    tab.evaluate(&format!("document.querySelector(\"{row} a\").focus()"))
        .await;
    node.run(&source, json!({"body": {"order": 7}})).await;
    tab.sees_text(&row, "Order 7").await;
    tab.sees_text(&row, "ok").await;
    // The row is the same element, and the person is where they were.
    let focused = format!("document.activeElement === document.querySelector(\"{row} a\")");
    assert_eq!(tab.evaluate(&focused).await, json!(true));
    // Paused, nothing changes; then all is there at once.
    tab.press("[data-live-pause]").await;
    node.run(&source, json!({"fails": true})).await;
    tab.press("[data-live-pause]").await;
    tab.sees_text(&row, "failing").await;

    tab.open("/").await;
    tab.sees_text("[data-part=home]", "the API is away").await;
    tab.sees_text("[data-live-state]", "Live").await;
    node.run(&source, json!({"body": {"order": 8}})).await;
    tab.sees_text("[data-part=home]", "Nothing fails").await;
    tab.sees_text("[data-rows] tr:first-child", "Order 8").await;
    tab.open(&format!("/sources/{}/logs", source.id)).await;
    tab.sees_text("[data-live-state]", "Live").await;
    let lines = tab.count(".log li").await;
    node.run(&source, json!({"body": {"order": 9}})).await;
    tab.sees(&format!(".log li:nth-child({})", lines + 1)).await;
    assert_eq!(tab.streams().await, 1);
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_newest_events_of_all_come_home_each_once() {
    let node = Node::start().await;
    let [one, two] = [
        node.deploy(ECHO, json!({})).await,
        node.deploy(MANY, json!({})).await,
    ];
    let stranger = node.user("stranger").await;
    let theirs = stranger
        .post("/sources", json!({"component_code": ECHO}))
        .await;
    let theirs = theirs.is(200).data()["id"].as_str().unwrap().to_owned();
    node.run(&one, json!({"body": {"order": 1}})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open("/").await;
    tab.sees_text("[data-live-state]", "Live").await;
    tab.sees_text("[data-rows] tr:first-child", "Order 1").await;
    let run = format!("/sources/{theirs}/run");
    let order = json!({"event": {"body": {"order": 0}}});
    stranger.post(&run, order).await.is(200);
    node.run(&two, json!({"from": 2, "count": 1})).await;
    tab.sees_text("[data-rows] tr:first-child", "Event 2").await;
    tab.sees_text("[data-rows] tr:first-child", "many").await;
    // On hold they are counted; in the background they are not read. Each comes once, whatever happened meanwhile.
    tab.press("[data-live-pause]").await;
    node.run(&one, json!({"body": {"order": 3}})).await;
    tab.sees_text("[data-live-show]", "Show 1 new").await;
    tab.cover(true).await;
    assert_eq!(tab.streams().await, 0);
    node.run(&two, json!({"from": 4, "count": 2})).await;
    tab.cover(false).await;
    tab.sees_text("[data-live-show]", "Show 3 new").await;
    tab.press("[data-live-show]").await;
    tab.sees_text("[data-rows] tr:first-child", "Event 5").await;
    let rows = tab
        .evaluate("[...document.querySelectorAll('[data-rows] th')].map((row) => row.innerText)")
        .await;
    assert_eq!(
        rows,
        json!(["Event 5", "Event 4", "Order 3", "Event 2", "Order 1"])
    );
    // More than the list has room for: the newest stay.
    node.run(&two, json!({"from": 6, "count": 30})).await;
    tab.sees_text("[data-rows] tr:first-child", "Event 35")
        .await;
    assert_eq!(tab.count("[data-rows] tr").await, 20);
    assert_eq!(tab.streams().await, 1);
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_page_of_a_webhook_follows_its_deliveries_and_keeps_what_is_written() {
    let node = Node::builder().private_network().start().await;
    let source = node.deploy(ECHO, json!({})).await;
    let receiver = Receiver::start().await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&format!("/webhooks/{webhook}")).await;
    tab.sees_text(
        "[data-part=deliveries]",
        "Nothing that was sent to it is kept",
    )
    .await;
    tab.sees_text("[data-live-state]", "Live").await;
    tab.press("main details.further summary").await;
    tab.write("#channel", "orders").await;
    node.run(&source, json!({"body": {"order": 1}})).await;
    tab.sees_text("[data-part=deliveries] tbody tr", "delivered")
        .await;
    tab.sees_text("[data-part=head]", "of 1 attempt delivered")
        .await;
    let written = tab
        .evaluate("document.querySelector('#channel').value")
        .await;
    assert_eq!(written, json!("orders"));
    receiver.answer(|_| Reply::status(500));
    node.run(&source, json!({"body": {"order": 2}})).await;
    tab.sees_text("[data-part=deliveries] tbody tr", "pending")
        .await;
    assert_eq!(tab.streams().await, 1);
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn deliveries_and_a_run_at_work_are_followed_to_their_ends() {
    let node = Node::builder().private_network().start().await;
    let source = node.deploy(ECHO, json!({})).await;
    let receiver = Receiver::start().await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open("/deliveries?state=any").await;
    tab.sees_text("[data-part=deliveries]", "Nothing was sent")
        .await;
    tab.sees_text("[data-live-state]", "Live").await;
    node.run(&source, json!({"body": {"order": 1}})).await;
    tab.sees_text("[data-part=deliveries] tbody tr", "delivered")
        .await;
    tab.sees_text("[data-part=states]", "Delivered 1").await;
    assert_eq!(node.deliveries_in(&webhook, "delivered", 1).await.len(), 1);

    let step = "if (steps.trigger.event === 'wait') { await $.flow.suspend(); }";
    let workflow = Folder::new(HTTP, &[("pause", step)]).deployed(&node).await;
    let run = workflow.start(&node, json!("wait")).await;
    waiting(&node, &run).await;
    tab.open(&format!("{}/runs/{}", workflow.path(), id_of(&run)))
        .await;
    tab.sees_text("h1 + .state", "waiting").await;
    tab.sees_text("[data-live-state]", "Live").await;
    // Somebody else answers.
    node.post(&format!("{run}/resume"), json!({})).await.is(200);
    tab.sees_text("h1 + .state", "succeeded").await;
    tab.sees_text("[data-part=run]", "Export $resume_data")
        .await;
    assert_eq!(tab.streams().await, 0, "there is nothing more to follow");
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

/// The id at the end of a run's path.
fn id_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

#[tokio::test]
async fn ten_thousand_events_leave_a_page_as_large_as_it_is() {
    const EVENTS: u64 = 10_000;
    const RUN: u64 = 500;
    let node = Node::start().await;
    let source = node.deploy(MANY, json!({})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&format!("/sources/{}", source.id)).await;
    tab.sees_text("[data-live-state]", "Live").await;
    tab.evaluate(
        "void (window.__most = 0, new MutationObserver(() => { \
           window.__most = Math.max(window.__most, document.querySelectorAll('[data-rows] tr').length); }) \
           .observe(document.querySelector('[data-rows]'), { childList: true }))",
    )
    .await;
    for from in (0..EVENTS).step_by(RUN as usize) {
        node.run(&source, json!({"from": from, "count": RUN})).await;
    }
    tab.sees_text("[data-live-count]", "10,000 came since")
        .await;
    let newest = format!("Event {}", EVENTS - 1);
    tab.sees_text("[data-rows] tr:first-child", &newest).await;
    let most = tab.evaluate("window.__most").await;
    assert!((1..=500).contains(&most.as_u64().unwrap()), "{most} rows");
    let ids = "[...document.querySelectorAll('[data-rows] tr')].map((row) => row.dataset.row)";
    let distinct = format!("new Set({ids}).size === {ids}.length");
    assert_eq!(tab.evaluate(&distinct).await, json!(true));
    let bytes = tab.heap_bytes().await;
    assert!(bytes < 60 * 1_024 * 1_024, "{bytes} bytes");
    assert_eq!(tab.problems().await, Vec::<String>::new());
}
