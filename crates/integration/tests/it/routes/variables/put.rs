//! `PUT /variables/{name}`.

use headwater_integration::Node;
use serde_json::json;

use crate::workflows::{Folder, HTTP, step};

#[tokio::test]
async fn steps_see_the_value_that_was_set_last() {
    let node = Node::start().await;
    let folder = Folder::new(HTTP, &[("tell", "return process.env.PLACE?.length;")]);
    let workflow = folder.deployed(&node).await;
    let run = workflow.run(&node, json!({}), "succeeded").await;
    assert_eq!(step(&run, "tell").get("return_value"), None);
    for value in ["here", "elsewhere", ""] {
        let set = node.put("/variables/PLACE", json!({"value": value})).await;
        let set = set.is(200).data();
        assert_eq!(set["name"], "PLACE");
        assert_eq!(set.as_object().unwrap().len(), 2, "{set}");
        let run = workflow.run(&node, json!({}), "succeeded").await;
        assert_eq!(step(&run, "tell")["return_value"], value.len());
    }
}

#[tokio::test]
async fn wrong_names_and_values_are_told() {
    let node = Node::start().await;
    let long = "x".repeat(64 * 1024 + 1);
    for (name, body, param) in [
        ("1A", json!({"value": "1"}), "name"),
        ("A-B", json!({"value": "1"}), "name"),
        ("PIPEDREAM_WORKFLOW_ID", json!({"value": "1"}), "name"),
        ("A", json!({}), "value"),
        ("A", json!({"value": 7}), "value"),
        ("A", json!({"value": long}), "value"),
    ] {
        let refused = node.put(&format!("/variables/{name}"), body).await.is(400);
        assert_eq!(refused.error()["param"], param, "{name}");
    }
    assert!(node.get("/variables").await.is(200).items().is_empty());
}

#[tokio::test]
async fn the_values_of_an_owner_are_bounded_together() {
    let node = Node::start().await;
    let long = "x".repeat(64 * 1024);
    let set = async |number: usize| {
        let path = format!("/variables/V{number}");
        node.put(&path, json!({"value": long})).await
    };
    for number in 0..16 {
        set(number).await.is(200);
    }
    let refused = set(16).await.is(409).error();
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("1048576 is the most; delete"), "{message}");
    // Another value in place of one adds nothing.
    set(0).await.is(200);
    node.delete("/variables/V0").await.is(204);
    // Of two at once, each of which would fit alone, one does.
    let (one, two) = tokio::join!(set(16), set(17));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
}

/// The names that a deployment does not miss are in `crates/workflow/src/environment.rs`.
#[tokio::test]
async fn a_step_finds_few_variables_that_nobody_has_set() {
    let node = Node::start().await;
    let code = "return [Object.keys(process.env).sort(), process.env.NODE_ENV];";
    let workflow = Folder::new(HTTP, &[("tell", code)]).deployed(&node).await;
    let run = workflow.run(&node, json!({}), "succeeded").await;
    let found = &step(&run, "tell")["return_value"];
    let names = [
        "HOME",
        "NO_COLOR",
        "PIPEDREAM_TRACE_ID",
        "PIPEDREAM_WORKFLOW_ID",
        "TMPDIR",
    ];
    assert_eq!(*found, json!([names, "development"]));
}
