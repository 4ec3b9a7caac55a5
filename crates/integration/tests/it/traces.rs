//! Traces: one from a trigger to whatever it causes, sent over OTLP to a collector.

use headwater_integration::{Collector, Method, Node, NodeBuilder, Receiver, RecordedSpan, Source};
use serde_json::json;

use crate::code::{EMITTER, INBOX};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

fn recording(collector: &str) -> NodeBuilder {
    Node::builder()
        .flag("--otlp-endpoint")
        .flag(collector)
        .env("OTEL_BSP_SCHEDULE_DELAY", "50")
}

/// A request at the source's endpoint, in that trace if any.
async fn request(node: &Node, source: &Source, traceparent: Option<&str>) {
    let mut request = node.request(Method::POST, source.endpoint());
    if let Some(traceparent) = traceparent {
        request = request.header("traceparent", traceparent);
    }
    node.send(request.body("hello")).await.is(200);
}

/// The spans of a source and of the requests at endpoints.
fn of<'a>(spans: &'a [RecordedSpan], name: &str) -> Vec<&'a RecordedSpan> {
    spans.iter().filter(|span| span.name == name).collect()
}

/// Emits every event it gets.
const ECHO: &str = r#"
export default {
  name: "Echo",
  version: "0.0.1",
  run(event) {
    this.$emit(event);
  },
};
"#;

#[tokio::test]
async fn a_callers_trace_goes_on_through_the_request_its_runs_and_the_delivery_of_what_they_emit() {
    let collector = Collector::start().await;
    let receiver = Receiver::start().await;
    let node = recording(&collector.url()).private_network();
    let node = node.start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let listener = node.deploy(ECHO, json!({})).await;
    let subscription = json!({"emitter_id": source.id, "listener_id": listener.id});
    node.post("/subscriptions", subscription).await.is(200);
    let webhook_id = node.webhook_for(&listener.id, &receiver.url()).await;
    request(&node, &source, Some(&format!("00-{TRACE}-{SPAN}-01"))).await;
    // Each is sent when it ends, the request's beside the runs'.
    let wanted = |spans: &[RecordedSpan]| {
        ["endpoint", "run", "delivery"].map(|name| of(spans, name).len()) == [1, 2, 1]
    };
    let spans = collector.until(wanted).await;

    let endpoint = of(&spans, "endpoint")[0];
    assert_eq!(endpoint.service, "headwater");
    assert_eq!((&*endpoint.trace_id, &*endpoint.parent_id), (TRACE, SPAN));
    assert_eq!(endpoint.attributes["http.response.status_code"], "200");
    let by_source = |id: &str| {
        let runs = of(&spans, "run").into_iter();
        let mut runs = runs.filter(|run| run.attributes["headwater.source_id"] == id);
        runs.next().unwrap()
    };
    let (first, second) = (by_source(&source.id), by_source(&listener.id));
    assert_eq!((&*first.trace_id, &*second.trace_id), (TRACE, TRACE));
    assert_eq!(first.parent_id, endpoint.span_id);
    assert_eq!(second.parent_id, first.span_id);
    assert_eq!(first.attributes["headwater.outcome"], "returned");
    assert!(!first.failed);
    let delivery = of(&spans, "delivery")[0];
    assert_eq!(delivery.parent_id, second.span_id);
    assert_eq!(delivery.attributes["headwater.webhook_id"], webhook_id);
    assert_eq!(delivery.attributes["http.response.status_code"], "200");
    let told = receiver.received()[0].headers["traceparent"].clone();
    assert_eq!(told, format!("00-{TRACE}-{}-01", delivery.span_id));
}

#[tokio::test]
async fn without_a_caller_a_trace_begins_at_the_trigger_and_a_failure_is_one() {
    let collector = Collector::start().await;
    let node = recording(&collector.url())
        .env("OTEL_SERVICE_NAME", "somewhere")
        .start()
        .await;
    let throwing = INBOX.replace("this.$emit(request)", "throw new Error(\"not today\")");
    let source = node.deploy(&throwing, json!({})).await;
    request(&node, &source, None).await;
    let wanted =
        |spans: &[RecordedSpan]| ["endpoint", "run"].map(|name| of(spans, name).len()) == [1, 1];
    let spans = collector.until(wanted).await;
    let (endpoint, run) = (of(&spans, "endpoint")[0], of(&spans, "run")[0]);
    assert_eq!(endpoint.service, "somewhere");
    assert_eq!(endpoint.parent_id, "");
    assert_eq!(run.trace_id, endpoint.trace_id);
    assert!(run.failed && !endpoint.failed);
    assert_eq!(run.attributes["headwater.outcome"], "threw");
}

#[tokio::test]
async fn a_trace_that_its_caller_does_not_record_is_not_recorded() {
    let collector = Collector::start().await;
    let node = recording(&collector.url()).start().await;
    let source = node.deploy(INBOX, json!({})).await;
    request(&node, &source, Some(&format!("00-{TRACE}-{SPAN}-00"))).await;
    node.events_until(&source, |events| events.len() == 1).await;
    request(&node, &source, None).await;
    let spans = collector.until(|spans| of(spans, "run").len() == 1).await;
    assert!(spans.iter().all(|span| span.trace_id != TRACE), "{spans:?}");
}

#[tokio::test]
async fn what_is_recorded_last_is_sent_before_the_node_ends() {
    let collector = Collector::start().await;
    let node = recording(&collector.url()).env("OTEL_BSP_SCHEDULE_DELAY", "3600000");
    let mut node = node.start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": []})).await;
    assert!(node.terminate().await.success());
    let spans = collector.until(|spans| !spans.is_empty()).await;
    assert_eq!(of(&spans, "run").len(), 1);
}

#[tokio::test]
async fn a_node_works_on_without_its_collector_and_says_so_once() {
    let node = recording("http://127.0.0.1:9");
    let mut node = node.start().await;
    let source = node.deploy(INBOX, json!({})).await;
    for number in 1..=3 {
        request(&node, &source, None).await;
        node.events_until(&source, |events| events.len() == number)
            .await;
    }
    assert!(node.terminate().await.success());
    let output = node.output();
    let warnings = output.matches("cannot send traces").count();
    assert_eq!(warnings, 1, "{output}");
    assert_eq!(output.matches(" WARN ").count(), 1, "{output}");
}
