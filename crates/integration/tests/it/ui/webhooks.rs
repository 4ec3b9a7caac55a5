//! The pages of webhooks and deliveries over HTTP.

use headwater_integration::{Method, Node, Receiver, Reply};
use serde_json::json;

use super::visitor::Visitor;
use crate::code::EMITTER;

/// A delivery of 14 bytes that was taken, whose event has a word.
async fn assert_found(visitor: &Visitor, delivery: &str) {
    // The list begins with those that may need somebody.
    let first = visitor.get("/deliveries").await.is(200).text;
    assert!(first.contains("None of them is dead"), "{first}");
    let all = visitor.get("/deliveries?state=any&q=SHORT").await.is(200);
    assert!(all.text.contains(delivery), "{}", all.text);
    let others = visitor.get("/deliveries?state=any&q=long").await.is(200);
    assert!(
        others.text.contains("No delivery is like this"),
        "{}",
        others.text
    );
    let delivered = visitor.get(delivery).await.is(200).text;
    assert!(delivered.contains("As it is sent (14 B"), "{delivered}");
}

async fn assert_refuses_unreadable_times(visitor: &Visitor, replay: &str) {
    // A time that cannot be read counts nothing.
    let unread = visitor.get(&format!("{replay}?since=soon")).await.is(422);
    assert!(
        unread.text.contains(" is not a time: write one"),
        "{}",
        unread.text
    );
    assert!(
        !unread.text.contains(">Send again</button>"),
        "{}",
        unread.text
    );
}

#[tokio::test]
async fn a_webhook_is_tested_and_its_dead_deliveries_are_sent_again() {
    let node = Node::builder()
        .private_network()
        .flag("--webhook-backoff=")
        .start()
        .await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    let visitor = Visitor::of(&node).await;
    let webhook = format!("/webhooks/{id}");
    let test = format!("{webhook}/test");
    let offered = visitor.get(&test).await.is(200);
    assert!(offered.text.contains("Send a test event"));
    assert!(receiver.received().is_empty(), "looking sends nothing");

    receiver.answer(|_| Reply::status(500));
    let tested = visitor.post(&test, &[]).await.is(200);
    for part in ["not delivered", "status", "webhook-signature", "curl '"] {
        assert!(tested.text.contains(part), "{part}: {}", tested.text);
    }
    node.run(
        &source,
        json!({"emits": [[{"it's": "one"}, {"summary": "In <b>short"}]]}),
    )
    .await;
    let dead = node.deliveries_in(&id, "dead", 1).await;
    let event = node.events(&source).await.remove(0);
    let event = format!(
        "/sources/{}/events/{}",
        source.id,
        event["id"].as_str().unwrap()
    );
    let caused = visitor.get(&event).await.is(200).text;
    assert!(caused.contains("send all again"), "{caused}");
    let delivery = format!("/deliveries/{}", dead[0]["id"].as_str().unwrap());
    assert_shown_dead(&visitor, &webhook, &delivery).await;

    receiver.answer(|_| Reply::status(200));
    let replay = format!("{webhook}/replay");
    let asked = visitor.get(&format!("{replay}?since=1h")).await.is(200);
    assert!(
        asked.text.contains("Send 1 dead delivery again?"),
        "{}",
        asked.text
    );
    let field = |name: &str| {
        let (_, rest) = asked
            .text
            .split_once(&format!("name=\"{name}\" value=\""))
            .unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let (since, until) = (field("since_ms"), field("until_ms"));
    let span = [("since_ms", &*since), ("until_ms", &*until)];
    visitor.post(&replay, &span).await.is(303);
    node.deliveries_in(&id, "delivered", 1).await;
    let caused = visitor.get(&event).await.is(200).text;
    assert!(!caused.contains("send all again"), "{caused}");
    assert_found(&visitor, &delivery).await;
    assert_refuses_unreadable_times(&visitor, &replay).await;
    assert_sends_nothing(
        &visitor,
        &format!("{replay}?which=missed"),
        "a delivery of every event",
    )
    .await;
    assert_sends_nothing(&visitor, &replay, "nothing to send again").await;
    assert_sends_nothing(&visitor, "/deliveries/retry", "No delivery is left").await;
}

/// Looks for a dead delivery on the pages of its webhook, of all of them, and of its own.
async fn assert_shown_dead(visitor: &Visitor, webhook: &str, delivery: &str) {
    let shown = visitor.get(webhook).await.is(200);
    for part in [
        "0 %",
        "of 1 attempt delivered",
        "Send a test event",
        "current",
        "openssl",
        "In &lt;b&gt;short",
    ] {
        assert!(shown.text.contains(part), "{part}: {}", shown.text);
    }
    let listed = visitor.get("/webhooks").await.is(200);
    // The one source that it gets the events of is named.
    for part in ["0 %", "href=\"/sources/dc_", "127.0.0.1:"] {
        assert!(listed.text.contains(part), "{part}: {}", listed.text);
    }
    assert!(!shown.text.contains("half took"), "{}", shown.text);
    let shown = visitor.get(delivery).await.is(200);
    assert!(shown.text.contains(r"it'\''s"), "{}", shown.text);
    for (query, count) in [
        ("since=1h", 1),
        ("until=2020-01-01", 0),
        ("since=1h&answer=5xx", 1),
    ] {
        let found = visitor.get(&format!("/deliveries?{query}")).await.is(200);
        let rows = found.text.matches(delivery).count();
        assert_eq!(rows, count, "{query}: {}", found.text);
    }
}

/// Looks at a page for sending again that says why there is nothing, and offers no button.
async fn assert_sends_nothing(visitor: &Visitor, path: &str, reason: &str) {
    let asked = visitor.get(path).await.is(200);
    assert!(asked.text.contains(reason), "{path}: {}", asked.text);
    assert!(!asked.text.contains(">Send again</button>"), "{path}");
}

#[tokio::test]
async fn a_webhook_that_gets_everything_is_warned_of() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example:8443/in").await;
    let id = webhook["id"].as_str().unwrap();
    node.subscribe("dc_*", id, "").await;
    let visitor = Visitor::of(&node).await;
    let listed = visitor.get("/webhooks").await.is(200);
    for part in ["every source", "receiver.example:8443"] {
        assert!(listed.text.contains(part), "{part}: {}", listed.text);
    }
    let path = format!("/webhooks/{id}");
    let shown = visitor.get(&path).await.is(200);
    assert!(shown.text.contains("deployed later"), "{}", shown.text);
    let rotated = visitor.post(&format!("{path}/secret"), &[]).await.is(200);
    assert!(rotated.text.contains("whsec_"));
    let shown = visitor.get(&path).await.is(200);
    assert!(shown.text.contains("signs, too, until"), "{}", shown.text);
    let told = node.cli(&["webhooks", "describe", id]).await.ok();
    assert!(told.stdout.contains("FORMER SECRET"), "{}", told.stdout);
}

#[tokio::test]
async fn a_form_that_is_sent_after_the_session_ended_can_be_sent_again() {
    let node = Node::start().await;
    let client = node.with_key(None);
    let request = client
        .request(Method::POST, "//webhooks/new")
        .header("sec-fetch-site", "same-origin")
        .header(
            "referer",
            format!("{}/webhooks/new?source=dc_*", node.url()),
        );
    let answer = client.send(request).await.is(401);
    for part in [
        "Nothing was changed",
        "/signin?next=%2Fwebhooks%2Fnew%3Fsource%3Ddc_*",
    ] {
        assert!(answer.text.contains(part), "{part}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_node_tells_where_its_options_were_set() {
    let node = Node::builder().flag("--retained-runs=123").start().await;
    let visitor = Visitor::of(&node).await;
    let shown = visitor.get("/settings/node").await.is(200);
    let (_, row) = shown.text.split_once("--retained-runs</code>").unwrap();
    let row = row.split("</tr>").next().unwrap();
    assert!(row.contains("123") && row.contains("flag"), "{row}");
}

#[tokio::test]
async fn listeners_are_added_and_removed_on_both_pages() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let webhook = node.webhook(&receiver.url()).await;
    let id = webhook["id"].as_str().unwrap();
    let visitor = Visitor::of(&node).await;
    let listeners = format!("/sources/{}/subscriptions", source.id);
    let shown = visitor.get(&listeners).await.is(200);
    let form = visitor
        .get(&format!("/webhooks/new?source={}", source.id))
        .await
        .is(200);
    let chosen = format!("value=\"{}\" selected", source.id);
    assert!(form.text.contains(&chosen), "{}", form.text);
    let unknown = visitor.get("/webhooks/new?source=dc_nothing").await.is(200);
    assert!(
        unknown.text.contains("There is no source"),
        "{}",
        unknown.text
    );
    for part in ["Nobody is subscribed", "Add a listener", id] {
        assert!(shown.text.contains(part), "{part}: {}", shown.text);
    }
    let refused = visitor
        .post(&listeners, &[("other", "nobody"), ("channel", "kept")])
        .await
        .is(422);
    assert!(refused.text.contains(r#"value="kept""#), "{}", refused.text);

    visitor.post(&listeners, &[("other", id)]).await.is(303);
    node.run(&source, json!({"emits": [[{"n": 1}, {}]]})).await;
    node.deliveries_in(id, "delivered", 1).await;
    let both = format!("{} {id}", source.id);
    let remove = format!("{listeners}/remove");
    visitor.post(&remove, &[("other", &both)]).await.is(303);
    let shown = visitor.get(&listeners).await.is(200);
    assert!(
        shown.text.contains("Nobody is subscribed"),
        "{}",
        shown.text
    );

    let page = format!("/webhooks/{id}");
    let emitters = format!("{page}/subscriptions");
    let errors = [("other", source.id.as_str()), ("channel", "$errors")];
    visitor.post(&emitters, &errors).await.is(303);
    let shown = visitor.get(&page).await.is(200);
    let row = format!("href=\"/sources/{}\"", source.id);
    assert!(shown.text.contains(&row), "{}", shown.text);
    visitor
        .post(&format!("{emitters}/remove"), &errors)
        .await
        .is(303);
    let shown = visitor.get(&page).await.is(200);
    assert!(
        shown.text.contains("the events of nobody"),
        "{}",
        shown.text
    );
}

#[tokio::test]
async fn a_webhook_gets_another_address_and_name() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example/in").await;
    let page = format!("/webhooks/{}", webhook["id"].as_str().unwrap());
    let visitor = Visitor::of(&node).await;
    let edit = format!("{page}/edit");
    let refused = visitor.post(&edit, &[("url", "no address")]).await;
    assert!(refused.is(422).text.contains(r#"value="no address""#));
    let changed = [("url", "https://other.example/in"), ("name", "shop")];
    visitor.post(&edit, &changed).await.is(303);
    let shown = visitor.get(&page).await.is(200);
    for part in ["https://other.example/in", "shop"] {
        assert!(shown.text.contains(part), "{part}: {}", shown.text);
    }
}
