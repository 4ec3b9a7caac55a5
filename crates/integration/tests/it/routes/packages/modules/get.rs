//! `GET /packages/modules`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn a_packages_components_are_listed_with_the_version_it_has() {
    let node = Node::start().await;
    let listed = node
        .get("/packages/modules?specifier=npm:@pipedream/postgresql@2.2.4")
        .await
        .is(200)
        .data();
    assert_eq!(listed["specifier"], "npm:@pipedream/postgresql@2.2.4");
    let modules = listed["modules"].as_array().unwrap();
    assert!(
        modules.contains(&json!("sources/new-row/new-row.mjs")),
        "{listed}"
    );
    assert!(
        modules
            .iter()
            .all(|path| !path.as_str().unwrap().contains("common")),
        "{listed}"
    );
}

#[tokio::test]
async fn what_is_no_package_is_refused() {
    let node = Node::start().await;
    for query in [
        "",
        "specifier=ms",
        "specifier=npm:",
        "specifier=npm:ms@99999",
    ] {
        let answer = node.get(&format!("/packages/modules?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
    }
    for query in ["", "specifier=", "specifier=npm:ms@99999"] {
        let answer = node.get(&format!("/packages/modules?{query}")).await;
        assert_eq!(answer.error()["param"], "specifier", "{query}");
    }
}
