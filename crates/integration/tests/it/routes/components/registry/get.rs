//! `GET /components/registry/{key}`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::EMITTER;

fn keyed(version: &str) -> String {
    let given = format!("key: \"test-emitter\", version: \"{version}\"");
    EMITTER.replace("version: \"0.0.1\"", &given)
}

#[tokio::test]
async fn what_nobody_published_is_not_found() {
    let node = Node::start().await;
    node.save(&keyed("1.0.0")).await;
    for key in [
        "test-emitter",
        "test-emitter@1.0.0",
        "no-such-key",
        "sc_",
        "@",
    ] {
        let answer = node.get(&format!("/components/registry/{key}")).await;
        assert_eq!(answer.status, 404, "{key}: {}", answer.text);
        assert_eq!(answer.error()["code"], "not_found");
    }
}

#[tokio::test]
async fn the_highest_version_is_found_and_older_ones_by_their_version() {
    let node = Node::start().await;
    for version in ["1.9.0", "1.10.0", "2.0.0-beta.1", "1.2.0"] {
        let body = json!({"component_code": keyed(version)});
        node.post("/components/registry", body).await.is(200);
    }
    for (key, version) in [
        ("test-emitter", "1.10.0"),
        ("test-emitter@1.9.0", "1.9.0"),
        ("test-emitter@2.0.0-beta.1", "2.0.0-beta.1"),
    ] {
        let registry = node
            .get(&format!("/components/registry/{key}"))
            .await
            .is(200)
            .data();
        assert_eq!(registry["version"], version);
        assert_eq!(registry["code"], keyed(version));
        assert_eq!(
            node.get(&format!("/components/{key}")).await.is(200).data(),
            registry
        );
    }
    node.get("/components/registry/test-emitter@3.0.0")
        .await
        .is(404);
}
