//! The page of all runs, and the bars of the last day.

use headwater_integration::Node;
use serde_json::json;

use super::visitor::Visitor;
use crate::workflows::{Folder, HTTP, waiting};

const TOLD: &str = "export default { name: 'Told', version: '0.0.1', \
    run(event) { if (event.throws) throw new RangeError(event.throws); this.$emit(1); } }";

/// The addresses of the hours' bars.
fn bars(page: &str) -> Vec<String> {
    let (_, after) = page.split_once("<ol>").expect("bars");
    let (bars, _) = after.split_once("</ol>").expect("their end");
    let links = bars.split("<a href=\"").skip(1);
    let links = links.map(|link| link.split('"').next().unwrap().replace("&amp;", "&"));
    links.collect()
}

#[tokio::test]
async fn runs_of_all_are_listed_with_those_that_need_somebody_first() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let none = visitor.get("/runs").await.is(200).text;
    assert!(none.contains("Nothing has run yet."), "{none}");
    let source = node.deploy(TOLD, json!({})).await;
    let name = json!({"name": "<i>Told"});
    node.patch(&source.path(), name).await.is(200);
    node.run(&source, json!({})).await;
    let well = visitor.get("/runs").await.is(200).text;
    assert!(
        well.contains("None of them failed, and none is under way: these are all.")
            && well.contains("&lt;i&gt;Told"),
        "{well}"
    );
    let bad = node
        .run(&source, json!({"throws": "<b>out of range"}))
        .await;
    let workflow = Folder::new(HTTP, &[("wait", "$.flow.suspend();")]);
    let workflow = workflow.deployed(&node).await;
    let open = workflow.start(&node, json!({})).await;
    waiting(&node, &open).await;

    let page = visitor.get("/runs").await.is(200).text;
    let of_bad = format!("href=\"/runs/{}\"", bad["invocation_id"].as_str().unwrap());
    let of_open = format!("href=\"/workflows/{}{open}\"", workflow.id());
    for shown in [
        of_bad.as_str(),
        &of_open,
        "&lt;b&gt;out of range",
        "&lt;i&gt;Told",
        "Failed and under way 2",
        "Under way 1",
        "Failed 1",
        "Ok 1",
        "All 3",
        "headwater runs list --status ",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let rows = |page: &str| page.matches("data-label=\"State\"").count();
    assert_eq!(rows(&page), 2);
    for (query, expected) in [
        ("status=any", 3),
        ("status=open", 1),
        ("status=succeeded", 1),
        ("status=any&trigger=manual", 3),
        ("status=any&trigger=timer", 0),
        ("status=any&q=RANGE", 1),
        ("status=any&min_ms=3600000", 0),
        ("status=any&until=1971-01-01T00:00", 0),
        ("status=any&emitter=nonsense", 3),
    ] {
        let page = visitor.get(&format!("/runs?{query}")).await.is(200).text;
        assert_eq!(rows(&page), expected, "{query}: {page}");
    }
    let of_source = format!("/runs?status=any&emitter={}", source.id);
    let page = visitor.get(&of_source).await.is(200).text;
    assert_eq!(rows(&page), 2, "{page}");
    // The filter is named, and taken away by its chip.
    for shown in [
        "<a href=\"/runs?status=any\" title=\"Take this filter away\">",
        "selected>&lt;i&gt;Told",
        "data-main",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert_tells_of_the_failed(&visitor, bad["invocation_id"].as_str().unwrap(), &source.id).await;
    let runs = format!("/workflows/{}/runs", workflow.id());
    assert_begins_with_open(&visitor, &runs, &of_open).await;
}

/// The runs of a workflow of which one is under way and none has ended.
async fn assert_begins_with_open(visitor: &Visitor, runs: &str, of_open: &str) {
    let needy = visitor.get(runs).await.is(200).text;
    assert!(needy.contains(of_open), "{needy}");
    let ended = visitor
        .get(&format!("{runs}?status=ended"))
        .await
        .is(200)
        .text;
    assert!(ended.contains("No run has ended yet."), "{ended}");
}

/// Looks at the page of a run that threw: its times, its version, its code, and the ways on.
async fn assert_tells_of_the_failed(visitor: &Visitor, run: &str, source: &str) {
    let page = visitor.get(&format!("/runs/{run}")).await.is(200).text;
    let versions = format!("href=\"/sources/{source}/versions/");
    let code = format!("href=\"/sources/{source}/code\"");
    for shown in [
        "<dt>Queued</dt>",
        "<dt>Ended</dt>",
        "class=\"bar failed\"",
        "data-key=\"r\"",
        "1 | export default { name: ",
        "failed with the same words",
        versions.as_str(),
        &code,
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let never = visitor
        .get("/runs/inv_0DkqLtSyJ4yOMpWg5tVxNq")
        .await
        .is(404)
        .text;
    assert!(never.contains("runs that succeeded and"), "{never}");
}

#[tokio::test]
async fn a_bar_leads_to_the_runs_of_its_hour() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let source = node.deploy(TOLD, json!({})).await;
    node.run(&source, json!({})).await;
    node.run(&source, json!({"throws": "no"})).await;
    for path in ["/", "/runs"] {
        let page = visitor.get(path).await.is(200).text;
        for shown in ["1 ok", "1 failed", ": 2 runs, 1 failed\"", "As a table"] {
            assert!(page.contains(shown), "{path}: {shown}: {page}");
        }
        let bars = bars(&page);
        assert_eq!(bars.len(), 24, "{path}");
        // The hour may have ended since they ran.
        let mut rows = 0;
        for bar in &bars[22..] {
            let page = visitor.get(bar).await.is(200).text;
            rows += page.matches("data-label=\"State\"").count();
        }
        assert_eq!(rows, 2, "{path}");
    }
}

#[tokio::test]
async fn runs_of_others_are_neither_listed_nor_counted() {
    let node = Node::start().await;
    let source = node.deploy(TOLD, json!({})).await;
    node.run(&source, json!({"throws": "hush"})).await;
    let bob = node.user("bob").await;
    let key = json!({"name": "browser"});
    let key = bob.post("/keys", key).await.is(200).data();
    let visitor = Visitor::with(&node, key["key"].as_str().unwrap()).await;
    let page = visitor.get("/runs?status=any").await.is(200).text;
    for hidden in ["hush", "told", source.id.as_str()] {
        assert!(!page.contains(hidden), "{hidden}: {page}");
    }
    for shown in ["0 ok", "0 failed", "All 0"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let of_source = format!("/runs?emitter={}", source.id);
    visitor.get(&of_source).await.is(404);
}
