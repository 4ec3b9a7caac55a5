//! What is different on a terminal: questions before deletions, keys in `dev`, the lines below the ready line.

use headwater_integration::Node;
use serde_json::json;

use crate::code::EMITTER;

#[tokio::test]
async fn a_deletion_is_asked_for_on_a_terminal_and_not_otherwise() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    node.deploy(EMITTER, json!({})).await;
    let mut asked = node.cli_at_terminal(folder.path(), &["delete", "emitter"]);
    asked
        .expect("Delete source emitter with its events, logs and runs?")
        .await;
    asked.send("n\r");
    asked.expect("nothing was deleted").await;
    assert_eq!(asked.end().await.code(), Some(1));
    let mut told = node.cli_at_terminal(folder.path(), &["delete", "emitter", "--yes"]);
    told.expect("deleted").await;
    assert_eq!(told.end().await.code(), Some(0));
    node.cli(&[
        "webhooks",
        "create",
        "https://example.com/in",
        "--name",
        "in",
    ])
    .await
    .ok();
    node.cli(&["webhooks", "delete", "in"]).await.ok();
}

#[tokio::test]
async fn the_address_of_a_new_user_is_asked_for() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut asked = node.cli_at_terminal(folder.path(), &["users", "create", "ada"]);
    asked.expect("Email address of ada:").await;
    asked.send("ada@example.com\r");
    asked.expect("created user").await;
    assert_eq!(asked.end().await.code(), Some(0));
    let users = node.cli(&["users", "list"]).await.ok();
    assert!(users.stdout.contains("ada@example.com"), "{}", users.stdout);
}

#[tokio::test]
async fn the_key_r_runs_the_source_while_dev_waits() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let code = r#"
export default {
  name: "Ticking", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } } },
  run() { this.$emit({ n: 1 }, { summary: "by hand" }); },
};
"#;
    std::fs::write(folder.path().join("ticking.mjs"), code).unwrap();
    let mut dev = node.cli_at_terminal(folder.path(), &["dev", "ticking.mjs"]);
    dev.expect("r runs it now").await;
    dev.send("xr");
    dev.expect("running it").await;
    dev.expect("the run ended: returned, 1 event").await;
    dev.signal("INT").await;
    assert_eq!(dev.end().await.code(), Some(0));
    let events = node.cli(&["events", "ticking"]).await.ok();
    assert!(events.stdout.contains("by hand"), "{}", events.stdout);
}

#[tokio::test]
async fn deletions_of_users_variables_and_subscriptions_are_asked_for_too() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let source = node.deploy(EMITTER, json!({})).await;
    let hook = [
        "webhooks",
        "create",
        "https://example.com/in",
        "--name",
        "in",
    ];
    for arguments in [
        &["users", "create", "ada", "--email", "ada@example.com"][..],
        &["variables", "set", "TOKEN=x"],
        &hook[..],
        &[
            "subscriptions",
            "create",
            "--emitter",
            source.id.as_str(),
            "--listener",
            "in",
        ],
    ] {
        node.cli(arguments).await.ok();
    }
    for (arguments, question) in [
        (&["users", "delete", "ada"][..], "Delete user ada"),
        (
            &["variables", "delete", "TOKEN"][..],
            "Delete variable TOKEN?",
        ),
        (
            &[
                "subscriptions",
                "delete",
                "--emitter",
                source.id.as_str(),
                "--listener",
                "in",
            ][..],
            "Delete this subscription of in?",
        ),
    ] {
        let mut asked = node.cli_at_terminal(folder.path(), arguments);
        asked.expect(question).await;
        asked.send("n\r");
        asked.expect("nothing was deleted").await;
        assert_eq!(asked.end().await.code(), Some(1));
        let told: Vec<&str> = arguments.iter().copied().chain(["--yes"]).collect();
        let mut told = node.cli_at_terminal(folder.path(), &told);
        told.expect("deleted").await;
        assert_eq!(told.end().await.code(), Some(0));
    }
}
