//! `POST /runs/{id}/cancel`.

use headwater_integration::{Method, Node};
use serde_json::json;

use crate::{
    code::unknown,
    workflows::{Folder, HTTP, paths, step, until, waiting},
};

#[tokio::test]
async fn a_run_that_waits_is_cancelled_and_begins_nothing_more() {
    let node = Node::start().await;
    let steps = [("ask", "$.flow.suspend();"), ("never", "return 1;")];
    let workflow = Folder::new(HTTP, &steps).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    let wait = waiting(&node, &run).await;
    let cancel = format!("{run}/cancel");
    // A body is not needed.
    let request = node.request(Method::POST, &cancel);
    node.send(request).await.is(204);
    let ended = until(&node, &run, "cancelled").await;
    assert_eq!(paths(&ended), ["ask"]);
    assert_eq!(ended["waits"], json!([]));
    node.get(wait["resume_url"].as_str().unwrap()).await.is(410);
    node.post(&cancel, json!({})).await.is(204);
    assert_eq!(node.get(&run).await.is(200).data(), ended);
}

const ENDLESS: &str = "export default { name: 'Endless', version: '0.0.1', props: { db: '$.service.db' }, async run() { \
    this.$emit(1); this.db.set('key', 1); console.log('so far'); await new Promise(() => setInterval(() => {}, 1000)); } }";

#[tokio::test]
async fn a_run_of_a_source_under_way_ends_with_nothing_but_its_log() {
    let node = Node::start().await;
    let source = node.deploy(ENDLESS, json!({})).await;
    let run = format!("{}/run", source.path());
    let running = async { node.post(&run, json!({})).await.is(200).data() };
    let cancelling = async {
        let open = loop {
            let open = node.get("/runs?status=open").await.is(200);
            if let Some(run) = open.json()["data"].as_array().unwrap().first() {
                break run["id"].as_str().unwrap().to_owned();
            }
        };
        let cancel = format!("/runs/{open}/cancel");
        node.post(&cancel, json!({})).await.is(204);
        node.post(&cancel, json!({})).await.is(204);
        open
    };
    let (report, id) = tokio::join!(running, cancelling);
    assert_eq!(report["outcome"]["status"], "cancelled", "{report}");
    let shown = node.get(&format!("/runs/{id}")).await.is(200).data();
    assert_eq!(shown["outcome"], "cancelled");
    assert_eq!(shown["error"], "cancelled by request");
    assert_eq!(
        (&shown["emitted"], &shown["changed_keys"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(
        (&shown["events"], &shown["errors"]),
        (&json!([]), &json!([]))
    );
    let stranger = node.user("stranger").await;
    stranger
        .post(&format!("/runs/{id}/cancel"), json!({}))
        .await
        .is(404);
}

#[tokio::test]
async fn a_run_that_has_ended_stays_as_it_is() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("one", "return 1;")])
        .deployed(&node)
        .await;
    let run = workflow.start(&node, json!({})).await;
    until(&node, &run, "succeeded").await;
    node.post(&format!("{run}/cancel"), json!({})).await.is(204);
    let shown = node.get(&run).await.is(200).data();
    assert_eq!(shown["status"], "succeeded");
    assert_eq!(step(&shown, "one")["return_value"], 1);
}

#[tokio::test]
async fn an_unknown_run_is_not_found() {
    let node = Node::start().await;
    let path = format!("/runs/{}/cancel", unknown("inv_"));
    node.post(&path, json!({})).await.is(404);
}
