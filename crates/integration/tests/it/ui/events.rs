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
    let gone = visitor.get(&page).await.is(404).text;
    let next = format!("href=\"{}\"", page_of(&source, &events[0]));
    for part in [
        "the newest 100 events are kept",
        "The next one that is kept",
        &next,
        "No delivery of it is kept.",
    ] {
        assert!(gone.contains(part), "{part}: {gone}");
    }
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
    let raw = format!("{address}/raw?at=%2Frows%2F9999");
    let part = visitor.get(&raw).await.is(200).json();
    assert_eq!(part["n"], json!(9_999));
    let text = format!("{address}/raw?at=%2Frows%2F9999%2Ftext&text=true");
    let text = visitor.get(&text).await.is(200);
    assert_eq!(text.text, "x".repeat(1_000));
    visitor
        .get(&format!("{address}/raw?at=%2Fnowhere"))
        .await
        .is(404);
    // Larger than a form has room for: it is named instead, and runs.
    let run = format!("/sources/{}/run", source.id);
    let id = events[0]["id"].as_str().unwrap();
    let form = visitor.get(&format!("{run}?event_id={id}")).await.is(200);
    let hidden = format!("name=\"event_id\" value=\"{id}\"");
    assert!(form.text.contains(&hidden), "{}", form.text);
    assert!(form.text.len() <= 100 * 1_024, "{}", form.text.len());
    let ran = [("event", ""), ("event_id", id)];
    let ran = visitor.post(&run, &ran).await.is(200).text;
    assert!(ran.contains("1 event"), "{ran}");
}

const REQUESTS: &str = "export default { name: 'Requests', version: '0.0.1', \
    run() { this.$emit({ method: 'POST', path: '/in', query: { page: '2' }, headers: { accept: 'a/b' }, \
    bodyRaw: 'text <b>', body: 'text <b>' }, { summary: 'a request' }); } }";

#[tokio::test]
async fn an_event_is_shown_in_several_ways() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let source = node.deploy(REQUESTS, json!({})).await;
    node.run(&source, json!({})).await;
    let event = node.events(&source).await.remove(0);
    let page = page_of(&source, &event);
    for (query, expected) in [
        (
            "",
            ["data-copy=\"/query/page\"", "href=\"?at=%2Fquery%2Fpage\""],
        ),
        ("?view=headers", ["accept", "a/b"]),
        ("?view=query", ["page", "2"]),
        ("?view=body", ["text &lt;b&gt;</bdi></pre>", "Body"]),
        (
            "?view=raw",
            ["{&quot;method&quot;:&quot;POST&quot;", "data-copy"],
        ),
        (
            "?view=delivery",
            ["x-headwater-event-id", "{webhook-id}.{webhook-timestamp}.{"],
        ),
    ] {
        let shown = visitor.get(&format!("{page}{query}")).await.is(200).text;
        for part in expected {
            assert!(shown.contains(part), "{query} {part}: {shown}");
        }
    }
    let command = format!(
        "headwater events {} {}",
        source.id,
        event["id"].as_str().unwrap()
    );
    let shown = visitor.get(&page).await.is(200).text;
    assert!(shown.contains(&command), "{shown}");
}

const SAMPLED: &str = "export default { name: 'Sampled', version: '0.0.1', \
    sampleEmit: { of: 'the sample' }, run(event) { this.$emit({ got: event }); } }";

#[tokio::test]
async fn a_run_begins_with_a_sample_or_an_event_and_keeps_what_was_written() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let source = node.deploy(SAMPLED, json!({})).await;
    let run = format!("/sources/{}/run", source.id);
    let last = format!("{run}?from=last");
    let none = visitor.get(&last).await.is(200).text;
    assert!(none.contains("No event of it is kept."), "{none}");
    let sample = visitor.get(&format!("{run}?from=sample")).await.is(200);
    assert!(sample.text.contains("the sample"), "{}", sample.text);
    let written = [("event", "{\"n\": 1")];
    let wrong = visitor.post(&run, &written).await.is(400).text;
    assert!(
        wrong.contains("is not JSON") && wrong.contains("{&quot;n&quot;: 1"),
        "{wrong}"
    );
    let written = [("event", "{\"n\": 7}")];
    visitor.post(&run, &written).await.is(200);
    let shown = visitor.get(&last).await.is(200).text;
    assert!(shown.contains("&quot;n&quot;: 7"), "{shown}");
    let paused = json!({"active": false});
    node.patch(&source.path(), paused).await.is(200);
    let refused = visitor.post(&run, &written).await.is(409).text;
    for part in ["It did not run", "is not active", "{&quot;n&quot;: 7}"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
}

#[tokio::test]
async fn an_event_is_sent_again_to_one_listener_or_to_all() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let (source, events) = numbered(&node).await;
    let page = page_of(&source, &events[0]);
    let replay = format!("{page}/replay");
    let nobody = visitor.get(&replay).await.is(200).text;
    assert!(nobody.contains("Nobody would get it"), "{nobody}");
    let mut listeners = Vec::new();
    for _ in 0..2 {
        let listener = node.deploy(NUMBERED, json!({})).await;
        node.subscribe(source.id.as_str(), listener.id.as_str(), "")
            .await;
        listeners.push(listener);
    }
    let form = visitor.get(&replay).await.is(200).text;
    assert!(form.contains("all 2 listeners"), "{form}");
    let one = [("to", listeners[1].id.as_str())];
    let sent = visitor.post(&replay, &one).await.is(303);
    assert_eq!(sent.header("location"), page);
    let ran = node.events_until(&listeners[1], |events| !events.is_empty());
    assert_eq!(ran.await.len(), 1);
    assert!(node.events(&listeners[0]).await.is_empty());
    let wrong = visitor.post(&replay, &[("to", "nobody")]).await.is(422);
    assert!(
        wrong.text.contains("There is no listener"),
        "{}",
        wrong.text
    );
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
    let (_, section) = shown.split_once("href=\"/workflows\"").unwrap();
    let section = section.split('>').next().unwrap();
    assert!(section.contains("aria-current=\"page\""), "{section}");
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
