//! `variables`: the requests to the node, and the text that people see.

use serde_json::{Value, json};

use crate::node::Node;

#[tokio::test]
async fn a_variable_is_set_from_the_command_line_a_file_or_one_argument() {
    let node = Node::start().await;
    node.on("PUT /v1/variables/TOKEN", |_| {
        (200, json!({"data": {"name": "TOKEN"}}))
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "from a file\n").unwrap();
    let reference = format!("@{}", file.display());
    for arguments in [
        &["TOKEN", "s3cr3t"][..],
        &["TOKEN", &reference],
        &["TOKEN=a=b"],
    ] {
        let seen = node.run(&[&["variables", "set"], arguments].concat()).await;
        assert_eq!(
            (seen.code, &*seen.stdout),
            (0, "TOKEN\n"),
            "{}",
            seen.stderr
        );
    }
    let sent = node.received("PUT /v1/variables/TOKEN");
    let values: Vec<_> = sent.iter().map(|put| put.body.clone()).collect();
    assert_eq!(
        values,
        ["s3cr3t", "from a file", "a=b"].map(|value| json!({ "value": value }))
    );
    let seen = node.run(&["variables", "set", "TOKEN"]).await;
    assert_eq!(seen.code, 2);
    assert!(seen.stderr.contains("@-"), "{}", seen.stderr);
}

#[tokio::test]
async fn variables_of_a_workspace_are_set_listed_and_deleted_there() {
    let node = Node::start().await;
    node.on("PUT /v1/variables/A", |_| (200, Value::Null));
    node.on("DELETE /v1/variables/A", |_| (204, Value::Null));
    let listed = json!([{"name": "A", "updated_at": 1_767_225_600}]);
    node.list("GET /v1/variables", listed);
    node.run(&["variables", "set", "A", "1", "--workspace", "o_1"])
        .await;
    let seen = node.run(&["variables", "list", "--workspace", "o_1"]).await;
    assert_eq!(seen.stdout, "NAME   SET\nA      2026-01-01T00:00:00Z\n");
    let seen = node
        .run(&["variables", "delete", "A", "--workspace", "o_1"])
        .await;
    assert_eq!((&*seen.stdout, &*seen.stderr), ("A\n", "deleted\n"));
    let put = &node.received("PUT /v1/variables/A")[0].body;
    assert_eq!(put, &json!({"value": "1", "workspace_id": "o_1"}));
    assert_eq!(
        node.received("GET /v1/variables")[0].query["workspace_id"],
        "o_1"
    );
    let deleted = &node.received("DELETE /v1/variables/A")[0].body;
    assert_eq!(deleted, &json!({"workspace_id": "o_1"}));
}
