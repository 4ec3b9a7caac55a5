//! `POST /workflows`.

use headwater_integration::Node;
use serde_json::json;

use crate::workflows::{Folder, HTTP, step};

#[tokio::test]
async fn a_deployed_folder_is_a_workflow_with_triggers() {
    let node = Node::start().await;
    let triggers = "- type: http\n- type: schedule\n  cron: \"0 9 * * 1\"\n  timezone: Europe/Vienna\n\
                    - type: events\n  emitter: dc_*\n";
    let folder = Folder::new(triggers, &[("one", "return 1;")]);
    let deployed = node.post("/workflows", folder.body()).await.is(200).data();
    let user = node.get("/users/me").await.is(200).data()["id"].clone();
    for (field, expected) in [
        ("name", json!("Orders")),
        ("name_slug", json!("orders")),
        ("active", json!(true)),
        ("owner_id", user.clone()),
        ("user_id", user),
        ("findings", json!([])),
    ] {
        assert_eq!(deployed[field], expected, "{field}: {deployed:#}");
    }
    let triggers = deployed["triggers"].as_array().unwrap();
    let types: Vec<_> = triggers.iter().map(|trigger| &trigger["type"]).collect();
    assert_eq!(types, ["http", "schedule", "events"]);
    let endpoint = triggers[0]["endpoint_url"].as_str().unwrap();
    assert!(
        endpoint.starts_with(&format!("{}/e/", node.url())),
        "{endpoint}"
    );
    let schedule =
        json!({"cron": "0 9 * * 1", "interval_seconds": null, "timezone": "Europe/Vienna"});
    assert_eq!(triggers[1]["schedule"], schedule);
    assert_eq!(triggers[2]["emitter_id"], "dc_*");
    let state = deployed["state_file"].as_str().unwrap();
    for id in [&deployed["id"], &triggers[0]["id"], &triggers[2]["id"]] {
        assert!(state.contains(id.as_str().unwrap()), "{state}");
    }
}

#[tokio::test]
async fn the_state_file_names_the_workflow_to_deploy_anew() {
    let node = Node::start().await;
    let folder = Folder::new(HTTP, &[("one", "return 'old';")]);
    let first = folder.deployed(&node).await;
    let another = folder.deployed(&node).await;
    assert_ne!(another.id(), first.id());
    let state = first.record["state_file"].as_str().unwrap();
    let folder = Folder::new(HTTP, &[("one", "return 'new';")]).with(".workflow.state", state);
    let again = folder.deployed(&node).await;
    assert_eq!(again.id(), first.id());
    assert_eq!(again.endpoint(), first.endpoint());
    assert_eq!(again.record["state_file"], state);
    assert_ne!(again.record["deployment_id"], first.record["deployment_id"]);
    let run = again.run(&node, json!({}), "succeeded").await;
    assert_eq!(step(&run, "one")["return_value"], "new");
    assert_eq!(run["deployment_id"], again.record["deployment_id"]);
}

#[tokio::test]
async fn a_folder_that_cannot_run_is_told_file_place_and_remedy() {
    let node = Node::start().await;
    let good = || Folder::new(HTTP, &[("one", "return 1;")]);
    let yaml = |text: &str| good().with("workflow.yaml", text);
    for (folder, param, told) in [
        (
            Folder(Default::default()),
            "files",
            "has no `workflow.yaml`",
        ),
        (
            good().with("../a.js", ""),
            "files",
            "`../a.js` is not a path within a folder",
        ),
        (
            yaml("name: A\nsteps:\n- namespace: [\n"),
            "workflow.yaml",
            "line ",
        ),
        (
            yaml("name: A\nsteps:\n- namespace: two\n"),
            "workflow.yaml",
            "line 3",
        ),
        (
            yaml("name: A\nsteps:\n- namespace: one\n- namespace: one\n"),
            "workflow.yaml",
            "line 4",
        ),
        (yaml("steps:\n- namespace: one\n"), "workflow.yaml", "name"),
        (
            good().with(
                ".workflow.state",
                "schema: workflow.state/2022.04\nid: dc_1\n",
            ),
            ".workflow.state",
            "dc_1",
        ),
    ] {
        let refused = node.post("/workflows", folder.body()).await;
        let error = refused.is(400).error();
        assert_eq!(error["param"], param, "{error}");
        assert!(
            error["message"].as_str().unwrap().contains(told),
            "{told}: {error}"
        );
    }
    let wrong = node
        .post("/workflows", json!({"files": {"workflow.yaml": 7}}))
        .await;
    assert_eq!(wrong.is(400).error()["param"], "files.workflow.yaml");
    assert!(node.get("/workflows").await.is(200).items().is_empty());
}

#[tokio::test]
async fn a_step_that_does_not_build_is_named_and_the_former_deployment_stays() {
    let node = Node::start().await;
    let folder = Folder::new(HTTP, &[("one", "return 'old';"), ("two", "return 2;")]);
    let workflow = folder.deployed(&node).await;
    let state = workflow.record["state_file"].as_str().unwrap();
    let folder = folder.with(".workflow.state", state);
    let broken = folder.with("two/entry.js", "export default { run( }");
    let refused = node.post("/workflows", broken.body()).await.is(422).error();
    assert_eq!(refused["code"], "component_failed");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("step `two`"), "{message}");
    let nothing = broken.with("two/entry.js", "export default { props: {} };");
    let refused = node
        .post("/workflows", nothing.body())
        .await
        .is(422)
        .error();
    let message = refused["message"].as_str().unwrap();
    let told = "step `two`: ";
    assert!(message.contains(told), "{message}");
    assert!(
        message.contains("the step has no `run` method"),
        "{message}"
    );
    let stack = refused.get("stack").and_then(|stack| stack.as_str());
    assert_eq!(stack.unwrap_or_default(), "", "{refused}");
    let shown = node.get(&workflow.path()).await.is(200).data();
    assert_eq!(shown["deployment_id"], workflow.record["deployment_id"]);
    let run = workflow.run(&node, json!({}), "succeeded").await;
    assert_eq!(step(&run, "one")["return_value"], "old");
}

#[tokio::test]
async fn what_is_hardly_meant_so_is_told() {
    let node = Node::start().await;
    let text = "name: Orders\ncolour: red\nsteps:\n- namespace: one\n";
    let folder = Folder::new(HTTP, &[("one", "return 1;")]).with("workflow.yaml", text);
    let deployed = node.post("/workflows", folder.body()).await.is(200).data();
    let mut findings = deployed["findings"].as_array().unwrap().iter();
    let finding = findings.find(|finding| finding["severity"] == "warning");
    let finding = finding.unwrap_or_else(|| panic!("no warning: {deployed:#}"));
    assert_eq!(finding["line"], 2);
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("colour"), "{message}");
}
