//! `GET /apps`.

use headwater_integration::Node;
use serde_json::json;

const APPS: &str = r#"
[acme]
name = "Acme"
auth = "fields"
fields = [{ name = "key", label = "Key", secret = true }, { name = "region", optional = true, hint = "Of the shop.", options = [{ value = "eu", label = "Europe" }, { value = "us" }] }]

[slack.oauth2]
client_id = "the-node"
client_secret = "never-to-be-shown"
"#;

#[tokio::test]
async fn the_catalog_is_listed_searched_and_paged_without_secrets() {
    let node = Node::builder().file("apps/own.toml", APPS).start().await;
    let all = node.get("/apps?limit=100").await.is(200);
    assert!(all.items().len() >= 30, "{}", all.text);
    assert!(!all.text.contains("never-to-be-shown"));
    let acme = node.get("/apps?q=ACM").await.is(200).items();
    let expected = json!({
        "name_slug": "acme", "name": "Acme", "auth_type": "fields", "connectable": true,
        "fields": [
            {"name": "key", "label": "Key", "secret": true, "optional": false, "multiline": false, "port": false},
            {
                "name": "region", "label": "region", "secret": false, "optional": true, "multiline": false, "port": false,
                "options": [{"value": "eu", "label": "Europe"}, {"value": "us", "label": "us"}], "hint": "Of the shop.",
            },
        ],
    });
    assert_eq!(acme, [expected]);

    let first = node.get("/apps?limit=2").await.is(200);
    let cursor = &first.json()["page_info"]["end_cursor"];
    let next = format!("/apps?limit=2&after={}", cursor.as_str().unwrap());
    assert_eq!(node.get(&next).await.is(200).items(), all.items()[2..4]);
}

#[tokio::test]
async fn an_oauth2_app_is_connectable_once_the_operator_names_a_client() {
    let node = Node::builder().file("apps/own.toml", APPS).start().await;
    for (slug, connectable) in [("slack", true), ("github", false)] {
        let found = node.get(&format!("/apps?q={slug}")).await.is(200).items();
        let app = found.iter().find(|app| app["name_slug"] == slug).unwrap();
        assert_eq!(app["connectable"], connectable, "{app}");
        assert_eq!(app["auth_type"], "oauth2");
    }
}
