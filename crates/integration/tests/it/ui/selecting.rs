//! Acts on rows whose boxes are checked, over HTTP.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::json;

use super::visitor::Visitor;
use crate::{
    code::EMITTER,
    workflows::{Folder, HTTP, Workflow, until, waiting},
};

/// The line that the next page says once.
async fn told(visitor: &Visitor, set_cookie: &str) -> String {
    let flash = set_cookie.split(';').next().unwrap();
    let cookie = format!("{}; {flash}", visitor.cookie);
    let other = Visitor {
        client: visitor.client.clone(),
        cookie,
    };
    let page = other.get("/sources").await.is(200).text;
    let (_, line) = page.split_once("class=\"flash\"").expect("a line");
    line.split("</p>").next().unwrap().to_owned()
}

#[tokio::test]
async fn selected_deliveries_are_sent_again_or_discarded() {
    let node = Node::builder()
        .private_network()
        .flag("--webhook-backoff=")
        .start()
        .await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::status(500));
    let source = node.deploy(EMITTER, json!({})).await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    for _ in 0..3 {
        node.run(&source, json!({"emits": [[{"a": "one"}, {}]]}))
            .await;
    }
    let dead = node.deliveries_in(&webhook, "dead", 3).await;
    let ids: Vec<_> = dead.iter().map(|one| one["id"].as_str().unwrap()).collect();
    let visitor = Visitor::of(&node).await;
    let list = visitor.get("/deliveries").await.is(200).text;
    assert_eq!(list.matches("type=\"checkbox\" name=\"id\"").count(), 3);
    let all = visitor.get("/deliveries?selected=all").await.is(200).text;
    assert_eq!(all.matches("form=\"selection\" checked").count(), 3);

    let two = format!(
        "/deliveries/selected?act=discard&id={}&id={}",
        ids[0], ids[1]
    );
    let asked = visitor.get(&two).await.is(200).text;
    for part in ["Discard 2 deliveries?", ids[0], ids[1], "dead"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert!(!asked.contains(ids[2]), "{asked}");
    assert_eq!(node.deliveries_in(&webhook, "dead", 3).await.len(), 3);
    let back = [("back", "/deliveries?state=dead")];
    let done = visitor.post(&two, &back).await.is(303);
    assert_eq!(done.header("location"), "/deliveries?state=dead");
    let line = told(&visitor, done.header("set-cookie")).await;
    assert!(line.contains("2 deliveries are discarded"), "{line}");
    node.deliveries_in(&webhook, "discarded", 2).await;

    receiver.answer(|_| Reply::status(200));
    let all = format!("act=retry&id={}&id={}&id={}", ids[0], ids[1], ids[2]);
    let all = format!("/deliveries/selected?{all}");
    let done = visitor.post(&all, &[("back", "//other/")]).await.is(303);
    assert_eq!(done.header("location"), "/deliveries");
    node.deliveries_in(&webhook, "delivered", 3).await;
    // Those that do not allow it are left, and the page says so.
    let done = visitor.post(&two, &[]).await.is(303);
    let line = told(&visitor, done.header("set-cookie")).await;
    for part in [
        "0 deliveries are discarded",
        "2 were left",
        "has been delivered",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    for (query, title) in [
        ("act=retry", "Nothing is selected"),
        (&format!("act=burn&id={}", ids[0]), "There is no such act"),
    ] {
        let path = format!("/deliveries/selected?{query}");
        let page = visitor.get(&path).await.is(400).text;
        assert!(page.contains(title), "{title}: {page}");
    }
}

#[tokio::test]
async fn selected_events_are_sent_again_to_their_listeners() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    let emits = json!({"emits": [["one", {}], ["two", {}], ["three", {}]]});
    node.run(&source, emits).await;
    node.deliveries_in(&webhook, "delivered", 3).await;
    let visitor = Visitor::of(&node).await;
    let events = node.events(&source).await;
    let places: Vec<_> = events
        .iter()
        .map(|event| format!("{}@{}", event["id"].as_str().unwrap(), source.id))
        .collect();
    let page = format!("/sources/{}/events", source.id);
    for list in [&page, "/events"] {
        let shown = visitor.get(list).await.is(200).text;
        for place in &places {
            assert!(
                shown.contains(&format!("value=\"{place}\"")),
                "{list}: {shown}"
            );
        }
        let all = format!("{list}?selected=all");
        let all = visitor.get(&all).await.is(200).text;
        assert_eq!(all.matches("form=\"selection\" checked").count(), 3);
    }
    let two = format!(
        "/events/selected?act=replay&id={}&id={}&id=1-0@{}",
        places[2], places[0], source.id
    );
    let asked = visitor.get(&two).await.is(200).text;
    for part in [
        "Send 2 events again?",
        "1 event is not kept any more",
        "127.0.0.1:",
        ": 2 events",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert_eq!(receiver.received().len(), 3, "asking sends nothing");
    let done = visitor.post(&two, &[("back", &page)]).await.is(303);
    assert_eq!(done.header("location"), page);
    let line = told(&visitor, done.header("set-cookie")).await;
    for part in [
        "2 events are sent again to 1 listener",
        "1 was not kept any more",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let received = receiver.until(|all| all.len() == 5).await;
    let again: Vec<_> = received[3..].iter().map(|one| one.body.clone()).collect();
    let first: Vec<_> = [&received[0], &received[2]]
        .iter()
        .map(|one| one.body.clone())
        .collect();
    assert_eq!(again, first, "oldest first");
    let burn = format!("/events/selected?act=burn&id={}", places[0]);
    visitor.get(&burn).await.is(400);
    all_that_match_are_sent_again(&visitor, &receiver).await;
}

/// The address that a page's form is sent to.
fn action(page: &str) -> String {
    let (_, rest) = page
        .split_once("section class=\"confirm\"")
        .expect("a question");
    let (_, rest) = rest.split_once("action=\"").expect("a form");
    rest.split('"').next().unwrap().replace("&amp;", "&")
}

async fn all_that_match_are_sent_again(visitor: &Visitor, receiver: &Receiver) {
    let found = visitor.get("/events?q=two").await.is(200).text;
    let address = "/events/replay?q=two";
    assert!(found.contains(&format!("href=\"{address}\"")), "{found}");
    let asked = visitor.get(address).await.is(200).text;
    for part in ["Send 1 event again?", "127.0.0.1:", ": 1 event", "until"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert_eq!(receiver.received().len(), 5, "asking sends nothing");
    let done = visitor.post(&action(&asked), &[]).await.is(200).text;
    for part in ["1 event is sent again", "127.0.0.1:", "Go back to the list"] {
        assert!(done.contains(part), "{part}: {done}");
    }
    let received = receiver.until(|all| all.len() == 6).await;
    assert_eq!(received[5].body, received[1].body);
    let none = visitor.get("/events/replay?q=nothing").await.is(200).text;
    assert!(none.contains("No kept event is like this"), "{none}");
    assert!(!none.contains("class=\"confirm\""), "{none}");
    let all = visitor.get("/events/replay").await.is(200).text;
    for part in ["Send 3 events again?", "Nothing narrows it"] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

#[tokio::test]
async fn selected_sources_are_paused_resumed_and_deleted() {
    let node = Node::start().await;
    let [one, two, three] = [
        node.deploy(EMITTER, json!({})).await,
        node.deploy(EMITTER, json!({})).await,
        node.deploy(EMITTER, json!({})).await,
    ];
    let visitor = Visitor::of(&node).await;
    let active = async |source: &headwater_integration::Source| {
        let shown = node.get(&source.path()).await.is(200).data();
        shown["active"].as_bool().unwrap()
    };
    let chosen = |act: &str| format!("/sources/selected?act={act}&id={}&id={}", one.id, two.id);
    let asked = visitor.get(&chosen("pause")).await.is(200).text;
    assert!(asked.contains("Pause 2 sources?"), "{asked}");
    assert!(active(&one).await, "asking changes nothing");
    visitor.post(&chosen("pause"), &[]).await.is(303);
    assert!(!active(&one).await && !active(&two).await && active(&three).await);
    visitor.post(&chosen("resume"), &[]).await.is(303);
    assert!(active(&one).await && active(&two).await);
    let ran = visitor.post(&chosen("run"), &[]).await.is(303);
    let line = told(&visitor, ran.header("set-cookie")).await;
    assert!(line.contains("2 sources have run"), "{line}");
    for (query, count) in [
        ("trigger=neither", 3),
        ("trigger=http", 0),
        ("app=no-such-app", 0),
        ("component=no-such-key", 0),
    ] {
        let listed = visitor.get(&format!("/sources?{query}")).await.is(200);
        let rows = listed.text.matches("type=\"checkbox\" name=\"id\"");
        assert_eq!(rows.count(), count, "{query}: {}", listed.text);
    }
    let done = visitor.post(&chosen("delete"), &[]).await.is(303);
    let line = told(&visitor, done.header("set-cookie")).await;
    assert!(line.contains("2 sources are deleted"), "{line}");
    node.get(&one.path()).await.is(404);
    assert!(active(&three).await);
    // All of them are gone, and so is the page.
    visitor.get(&chosen("delete")).await.is(404);
    visitor.post(&chosen("delete"), &[]).await.is(404);
}

#[tokio::test]
async fn selected_runs_of_workflows_begin_again() {
    let node = Node::start().await;
    let step = "if (steps.trigger.event === 'wait') await $.flow.suspend(); return 1;";
    let workflow = Folder::new(HTTP, &[("only", step)]).deployed(&node).await;
    let mut ids = Vec::new();
    for event in ["one", "two"] {
        let run = workflow.start(&node, json!(event)).await;
        until(&node, &run, "succeeded").await;
        ids.push(run.rsplit('/').next().unwrap().to_owned());
    }
    let open = workflow.start(&node, json!("wait")).await;
    waiting(&node, &open).await;
    let open = open.rsplit('/').next().unwrap();
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": []})).await;
    let visitor = Visitor::of(&node).await;
    for list in [
        "/runs?status=any",
        &format!("{}/runs?status=ended", workflow.path()),
    ] {
        let list = visitor.get(list).await.is(200).text;
        let boxes = list.matches("type=\"checkbox\" name=\"id\"").count();
        assert_eq!(
            boxes, 2,
            "those that have ended and keep their event: {list}"
        );
    }
    let chosen = format!(
        "/runs/selected?act=replay&id={}&id={}&id={open}",
        ids[0], ids[1]
    );
    let asked = visitor.get(&chosen).await.is(200).text;
    for part in ["Begin 3 runs again?", "follows", "is left", "has not ended"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let done = visitor.post(&chosen, &[]).await.is(303);
    let line = told(&visitor, done.header("set-cookie")).await;
    for part in ["2 runs have begun again", "1 was left as before"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let runs = node.get("/runs?limit=50").await.is(200).items();
    let replays = runs.iter().filter(|run| run["trigger"] == "replay");
    assert_eq!(replays.count(), 2, "{runs:?}");
    assert_eq!(
        runs.len(),
        6,
        "three, their two replays, and the source's: {runs:?}"
    );
    all_runs_that_match_begin_again(&node, &visitor, &workflow).await;
}

async fn all_runs_that_match_begin_again(node: &Node, visitor: &Visitor, workflow: &Workflow) {
    workflow.ended(node, 4).await;
    let list = visitor.get("/runs?status=succeeded").await.is(200).text;
    let address = "/runs/replay?status=succeeded&amp;act=replay-same";
    assert!(list.contains(address), "{list}");
    let address = address.replace("&amp;", "&");
    let asked = visitor.get(&address).await.is(200).text;
    for part in [
        "Begin 4 runs again?",
        "1 other run is left",
        "of then",
        "/v1/runs/replay",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let action = action(&asked);
    let done = visitor.post(&action, &[]).await.is(200).text;
    for part in [
        "4 runs have begun again",
        "Refused",
        "of sources, or not ended",
    ] {
        assert!(done.contains(part), "{part}: {done}");
    }
    workflow.ended(node, 8).await;
    // Those that have begun by it are not of the same question.
    let again = visitor.get(&action).await.is(200).text;
    assert!(again.contains("Begin 4 runs again?"), "{again}");
    let none = visitor.get("/runs/replay?status=failed").await.is(200).text;
    assert!(none.contains("No run that matches"), "{none}");
    visitor.get("/runs/replay?act=burn").await.is(400);
}
