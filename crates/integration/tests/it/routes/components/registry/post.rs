//! `POST /components/registry`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::EMITTER;

fn with(given: &str) -> String {
    EMITTER.replace("version: \"0.0.1\"", given)
}

#[tokio::test]
async fn publishing_the_same_again_changes_nothing() {
    let node = Node::start().await;
    let body = json!({"component_code": with("key: \"test-emitter\", version: \"1.0.0\"")});
    let first = node
        .post("/components/registry", body.clone())
        .await
        .is(200)
        .data();
    assert!(first["id"].as_str().unwrap().starts_with("sc_"), "{first}");
    assert_eq!(
        (&first["key"], &first["version"]),
        (&json!("test-emitter"), &json!("1.0.0"))
    );
    assert_eq!(first["newly_published"], true);
    let again = node.post("/components/registry", body).await.is(200).data();
    assert_eq!(again["id"], first["id"]);
    assert_eq!(again["newly_published"], false);
}

#[tokio::test]
async fn other_code_needs_another_version() {
    let node = Node::start().await;
    let code = with("key: \"test-emitter\", version: \"1.0.0\"");
    let publish = async |code: &str| {
        let body = json!({"component_code": code});
        node.post("/components/registry", body).await
    };
    publish(&code).await.is(200);
    let error = publish(&format!("{code}\n// changed"))
        .await
        .is(409)
        .error();
    assert!(
        error["message"].as_str().unwrap().contains("raise"),
        "{error}"
    );
    publish(&code.replace("1.0.0", "1.0.1")).await.is(200);
}

#[tokio::test]
async fn what_is_missing_or_malformed_is_named() {
    let node = Node::start().await;
    for (given, param) in [
        ("version: \"1.0.0\"", "key"),
        ("key: \"a b\", version: \"1.0.0\"", "key"),
        ("key: \"a\", version: \"1.0\"", "version"),
        ("key: \"a\", version: \"latest\"", "version"),
    ] {
        let body = json!({"component_code": with(given)});
        let error = node
            .post("/components/registry", body)
            .await
            .is(422)
            .error();
        assert_eq!(
            (&error["code"], &error["param"]),
            (&json!("invalid_component"), &json!(param))
        );
    }
    for (body, param) in [
        (json!({}), "component_code"),
        (json!({"component_url": "npm:ms"}), "component_url"),
        (
            json!({"component_url": "ftp://example.com/a.mjs"}),
            "component_url",
        ),
    ] {
        let error = node
            .post("/components/registry", body)
            .await
            .is(400)
            .error();
        assert_eq!(error["param"], param);
    }
}

#[tokio::test]
async fn a_file_of_a_package_is_published_at_the_version_it_resolves_to() {
    let node = Node::start().await;
    let path = "sources/new-scheduled-tasks/new-scheduled-tasks.mjs";
    let body = json!({"component_url": format!("npm:@pipedream/pipedream@^0.4/{path}")});
    let published = node.post("/components/registry", body).await.is(200).data();
    assert_eq!(published["key"], "pipedream-new-scheduled-tasks");
    let url = published["component_url"].as_str().unwrap();
    assert!(url.starts_with("npm:@pipedream/pipedream@0.4."), "{url}");
    let code = published["code"].as_str().unwrap();
    assert!(code.contains(url.strip_prefix("npm:").unwrap()), "{code}");
}
