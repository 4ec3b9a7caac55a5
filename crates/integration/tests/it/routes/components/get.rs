//! `GET /components/{key|id}` and `GET /components`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

fn keyed(version: &str) -> String {
    EMITTER.replace(
        "version: \"0.0.1\"",
        &format!("key: \"test-emitter\", version: \"{version}\""),
    )
}

/// A component as it is shown later; the answer that saved it says besides whether it is new.
async fn saved(node: &Node, code: &str) -> Value {
    let mut saved = node.save(code).await;
    let newly_saved = saved.as_object_mut().unwrap().remove("newly_saved");
    assert_eq!(newly_saved, Some(json!(true)));
    saved
}

#[tokio::test]
async fn a_component_is_found_by_its_id() {
    let node = Node::start().await;
    let saved = saved(&node, EMITTER).await;
    let path = format!("/components/{}", saved["id"].as_str().unwrap());
    assert_eq!(node.get(&path).await.is(200).data(), saved);
}

#[tokio::test]
async fn a_key_finds_what_was_saved_under_it_last() {
    let node = Node::start().await;
    let first = saved(&node, &keyed("0.0.1")).await;
    assert_eq!(
        node.get("/components/test-emitter").await.is(200).data(),
        first
    );
    let second = saved(&node, &keyed("0.0.2")).await;
    assert_eq!(
        node.get("/components/test-emitter").await.is(200).data(),
        second
    );
}

#[tokio::test]
async fn what_nobody_saved_is_not_found() {
    let node = Node::start().await;
    for reference in [
        "no-such-key",
        "sc_",
        "dc_0",
        &unknown("sc_"),
        &unknown("dc_"),
    ] {
        let answer = node.get(&format!("/components/{reference}")).await;
        assert_eq!(answer.status, 404, "{reference}: {}", answer.text);
        assert_eq!(answer.error()["code"], "not_found");
    }
}

fn with_key(key: &str, version: &str) -> String {
    let given =
        format!("key: \"{key}\", description: \"Passes on: {key}\", version: \"{version}\"");
    EMITTER.replace("version: \"0.0.1\"", &given)
}

async fn keys(node: &Node, query: &str) -> Vec<Value> {
    let answer = node.get(&format!("/components?{query}")).await.is(200);
    let items = answer.items();
    items.iter().map(|item| item["key"].clone()).collect()
}

#[tokio::test]
async fn saved_and_published_components_are_listed_once_per_key() {
    let node = Node::start().await;
    for version in ["1.0.0", "0.9.0"] {
        let body = json!({"component_code": with_key("shop-b", version)});
        node.post("/components/registry", body).await.is(200);
    }
    node.save(&with_key("shop-a", "1")).await;
    let newest = node.save(&with_key("shop-a", "2")).await;
    let keyless = node.save(EMITTER).await;

    let answer = node.get("/components").await.is(200);
    assert_eq!(answer.json()["page_info"]["total_count"], 3);
    let items = answer.items();
    let shown: Vec<_> = items
        .iter()
        .map(|item| {
            (
                item["key"].as_str(),
                item["version"].as_str(),
                item["published"].as_bool(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (Some("shop-a"), Some("2"), Some(false)),
            (Some("shop-b"), Some("1.0.0"), Some(true)),
            (None, Some("0.0.1"), Some(false)),
        ]
    );
    assert_eq!(
        (&items[0]["id"], &items[2]["id"]),
        (&newest["id"], &keyless["id"])
    );
    assert_eq!(items[0]["code_hash"], newest["code_hash"]);
    assert_eq!(
        (&items[0]["name"], &items[0]["type"]),
        (&json!("Emitter"), &json!("source"))
    );
    assert!(items[0].get("code").is_none(), "{}", items[0]);
}

#[tokio::test]
async fn components_are_searched_by_words_app_and_type() {
    let node = Node::start().await;
    for key in ["shop-new-order", "shop-refund", "mail-new"] {
        node.save(&with_key(key, "1.0.0")).await;
    }
    for (query, found) in [
        ("q=new", json!(["mail-new", "shop-new-order"])),
        ("q=NEW+passes%20shop", json!(["shop-new-order"])),
        ("q=", json!(["mail-new", "shop-new-order", "shop-refund"])),
        ("q=nothing", json!([])),
        ("app=mail", json!(["mail-new"])),
        ("app=shop&q=refund&type=source", json!(["shop-refund"])),
        ("type=action", json!([])),
    ] {
        assert_eq!(Value::from(keys(&node, query).await), found, "{query}");
    }
    let error = node.get("/components?type=workflow").await.is(400).error();
    assert_eq!(error["param"], "type");
}

#[tokio::test]
async fn components_are_paged_both_ways() {
    let node = Node::start().await;
    for key in ["d", "b", "a", "c"] {
        node.save(&with_key(key, "1.0.0")).await;
    }
    let first = node.get("/components?limit=2").await.is(200).json();
    assert_eq!(first["page_info"]["total_count"], 4);
    assert_eq!(first["page_info"]["count"], 2);
    let end = first["page_info"]["end_cursor"].as_str().unwrap();
    assert_eq!(
        keys(&node, &format!("limit=2&after={end}")).await,
        ["c", "d"]
    );
    let start = first["page_info"]["start_cursor"].as_str().unwrap();
    assert!(keys(&node, &format!("before={start}")).await.is_empty());
    assert_eq!(keys(&node, &format!("limit=1&before={end}")).await, ["a"]);
    node.get("/components?limit=0").await.is(400);
    node.get("/components?after=nonsense").await.is(400);
}

#[tokio::test]
async fn the_search_of_another_service_leads_to_the_one_here() {
    let node = Node::start().await;
    let refused = node.get("/components/search?query=rss").await.is(404);
    let message = refused.error()["message"].to_string();
    assert!(message.contains("/v1/components?q=WORDS"), "{message}");
}
