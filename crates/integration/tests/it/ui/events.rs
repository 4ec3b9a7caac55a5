//! Pages of one event: its neighbours, a comparison, deleting it; and the search's marks.

use headwater_integration::{Node, Source};
use serde_json::{Value, json};

use super::visitor::Visitor;
use crate::workflows::{Folder, HTTP};

const NUMBERED: &str = "export default { name: 'Numbered', version: '0.0.1', props: { db: '$.service.db' }, \
    run() { const n = (this.db.get('n') ?? 0) + 1; this.db.set('n', n); \
    this.$emit({ n, same: true, list: [n > 1] }, { id: n, summary: `number ${n}` }); } }";

/// A source that emitted three events, and these, newest first.
async fn numbered(node: &Node) -> (Source, Vec<Value>) {
    let source = node.deploy(NUMBERED, json!({})).await;
    let run = format!("/sources/{}/run", source.id);
    for _ in 0..3 {
        node.post(&run, json!({})).await.is(200);
    }
    let events = format!("/sources/{}/event_summaries", source.id);
    let events = node.get(&events).await.is(200).items();
    (source, events)
}

fn page_of(source: &Source, event: &Value) -> String {
    format!(
        "/sources/{}/events/{}",
        source.id,
        event["id"].as_str().unwrap()
    )
}

#[tokio::test]
async fn an_event_leads_to_its_neighbours_and_is_compared_with_one() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let (source, events) = numbered(&node).await;
    let pages = [0, 1, 2].map(|at| page_of(&source, &events[at]));
    for (at, (newer, older)) in [(None, Some(1)), (Some(0), Some(2)), (Some(1), None)]
        .into_iter()
        .enumerate()
    {
        let page = visitor.get(&pages[at]).await.is(200).text;
        let link = |rel: &str, to: usize| format!("<a rel=\"{rel}\" href=\"{}\"", pages[to]);
        for (rel, to) in [("prev", newer), ("next", older)] {
            match to {
                Some(to) => assert!(page.contains(&link(rel, to)), "{rel} of {at}: {page}"),
                None => assert!(!page.contains(&format!("rel=\"{rel}\"")), "{page}"),
            }
        }
    }
    let other = events[2]["id"].as_str().unwrap();
    let page = format!("{}/compare?with={other}", pages[0]);
    let page = visitor.get(&page).await.is(200).text;
    assert!(page.contains("They differ at 2 places"), "{page}");
    assert!(
        page.contains("event.list[0]") && page.contains("event.n"),
        "{page}"
    );
    assert!(!page.contains("event.same"), "{page}");
    let unknown = format!("{}/compare?with=nothing", pages[0]);
    visitor.get(&unknown).await.is(404);
}

#[tokio::test]
async fn an_event_is_deleted_once_that_is_confirmed() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let (source, events) = numbered(&node).await;
    let page = page_of(&source, &events[1]);
    let question = visitor.get(&format!("{page}/delete")).await.is(200).text;
    assert!(
        question.contains("Delete the event number 2?"),
        "{question}"
    );
    let deleted = visitor.post(&format!("{page}/delete"), &[]).await.is(303);
    assert_eq!(
        deleted.header("location"),
        format!("/sources/{}/events", source.id)
    );
    visitor.get(&page).await.is(404);
    let left = format!("/sources/{}/event_summaries", source.id);
    let left = node.get(&left).await.is(200).items();
    assert_eq!(left, [events[0].clone(), events[2].clone()]);
}

/// An event as large as events may be, nearly.
const LARGE: &str = "export default { name: 'Large', version: '0.0.1', run() { \
    const rows = Array.from({ length: 10_000 }, (_, n) => ({ n, text: 'x'.repeat(1_000) })); \
    this.$emit({ rows }, { summary: 'large' }); } }";

#[tokio::test]
async fn the_page_of_a_large_event_is_small_and_leads_to_all_of_it() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let source = node.deploy(LARGE, json!({})).await;
    node.run(&source, json!({})).await;
    let events = node.events(&source).await;
    let address = page_of(&source, &events[0]);
    for (query, shown, next) in [
        ("", "event.rows[0].text", "?at=%2Frows&amp;from=100\""),
        (
            "?at=%2Frows&from=100",
            "event.rows[100]",
            "?at=%2Frows&amp;from=1",
        ),
        (
            "?at=%2Frows&from=9900",
            "?at=%2Frows%2F9999\"",
            "?at=%2Frows&amp;from=9800\"",
        ),
        (
            "?at=%2Frows%2F9999",
            "event.rows[9999].text",
            "The whole value",
        ),
    ] {
        let page = visitor.get(&format!("{address}{query}")).await.is(200).text;
        assert!(page.len() <= 100 * 1_024, "{query}: {}", page.len());
        assert!(
            page.contains(shown) && page.contains(next),
            "{query}: {page}"
        );
    }
}

#[tokio::test]
async fn an_event_of_a_workflow_has_a_page_too() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let emit = "$.send.emit({ of: 'a workflow' });";
    let workflow = Folder::new(HTTP, &[("emit", emit)]).deployed(&node).await;
    workflow.run(&node, json!({}), "succeeded").await;
    let events = format!("{}/event_summaries", workflow.path());
    let event = node.get(&events).await.is(200).items().remove(0);
    let page = format!(
        "{}/events/{}",
        workflow.path(),
        event["id"].as_str().unwrap()
    );
    let list = visitor.get(&format!("{}/events", workflow.path())).await;
    let list = list.is(200).text;
    assert!(list.contains(&page), "{list}");
    let shown = visitor.get(&page).await.is(200).text;
    assert!(shown.contains("a workflow"), "{shown}");
    visitor.get(&format!("{page}/raw")).await.is(200);
}

#[tokio::test]
async fn a_search_is_bounded_in_time_and_found_events_are_a_file() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let (source, events) = numbered(&node).await;
    let page = visitor.get("/events?since=1h&until=2999-01-01").await;
    let page = page.is(200).text;
    assert!(page.contains("number 3"), "{page}");
    assert!(page.contains("<bdi>numbered</bdi></a>"), "{page}");
    assert!(page.contains("/events/export?since=1h"), "{page}");
    let page = visitor.get("/events?until=2001-01-01").await.is(200).text;
    assert!(page.contains("No kept event is like this"), "{page}");
    let page = visitor.get("/events?since=yesterday").await.is(200).text;
    let told = "<code><bdi>yesterday</bdi></code><bdi> is not a time";
    assert!(page.contains(told), "{page}");
    let file = visitor
        .get("/events/export?path=same%3Dtrue&since=1h")
        .await;
    let file = file.is(200);
    assert_eq!(file.header("content-type"), "application/x-ndjson");
    let lines = file.text.lines().map(serde_json::from_str::<Value>);
    let lines: Vec<_> = lines.collect::<Result<_, _>>().unwrap();
    assert_eq!(lines.len(), 3);
    for (line, event) in lines.iter().zip(&events) {
        assert_eq!(line["id"], event["id"]);
        assert_eq!(line["emitter"], source.id.as_str());
        assert!(line["event"]["n"].is_u64(), "{line}");
    }
    visitor.get("/events/export?since=x").await.is(400);
}
