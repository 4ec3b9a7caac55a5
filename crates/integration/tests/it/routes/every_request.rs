//! The rules for every request, whatever its path: request ids, unknown paths and methods,
//! trailing slashes, malformed bodies, fields to include and exclude.

use headwater_integration::{Method, Node};
use serde_json::json;

use crate::code::EMITTER;

#[tokio::test]
async fn every_answer_has_a_request_id_and_keeps_the_callers() {
    let node = Node::start().await;
    let first = node.get("/users/me").await.is(200);
    let second = node.get("/nowhere").await.is(404);
    assert_ne!(first.header("x-request-id"), "");
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    let given = node
        .request(Method::GET, "/users/me")
        .header("x-request-id", "mine-1");
    assert_eq!(node.send(given).await.header("x-request-id"), "mine-1");
}

#[tokio::test]
async fn unknown_paths_and_methods_are_told_apart() {
    let node = Node::start().await;
    let answer = node.get("/nowhere").await.is(404);
    assert_eq!(answer.error()["code"], "not_found");
    let answer = node.delete("/users/me").await.is(405);
    assert_eq!(answer.error()["code"], "method_not_allowed");
    assert!(
        answer.header("allow").contains("GET"),
        "{}",
        answer.header("allow")
    );
}

#[tokio::test]
async fn bytes_in_a_path_that_are_no_text_name_nothing() {
    let node = Node::start().await;
    for (method, path) in [
        (Method::GET, "/components/%ff"),
        (Method::GET, "/components/registry/%ff"),
        (Method::POST, "/components/%ff/run"),
        (Method::DELETE, "/data_stores/%ff"),
        (Method::DELETE, "/workspaces/%ff/members/%ff"),
        (Method::GET, "/sources/%ff"),
        (Method::GET, "//connect/%ff"),
    ] {
        let request = node.request(method, path);
        let answer = node.send(request).await.is(404);
        assert_eq!(answer.error()["code"], "not_found", "{path}");
    }
}

#[tokio::test]
async fn a_trailing_slash_makes_no_difference() {
    let node = Node::start().await;
    assert_eq!(
        node.get("/users/me/").await.is(200).data(),
        node.get("/users/me").await.is(200).data()
    );
    node.get("/users/me/sources/?limit=1").await.is(200);
    node.post("/sources/", json!({"component_code": EMITTER}))
        .await
        .is(200);
}

#[tokio::test]
async fn bodies_that_are_no_json_object_are_refused() {
    let node = Node::start().await;
    for (content_type, body, status) in [
        ("application/json", "{", 400),
        ("application/json", "[]", 400),
        ("application/json", "\"text\"", 400),
        ("text/plain", "{}", 415),
        ("application/x-www-form-urlencoded", "component_code=x", 415),
    ] {
        let request = node
            .request(Method::POST, "/components")
            .header("content-type", content_type)
            .body(body);
        let answer = node.send(request).await;
        assert_eq!(
            answer.status, status,
            "{content_type} {body}: {}",
            answer.text
        );
        answer.error();
    }
}

#[tokio::test]
async fn a_content_type_may_carry_a_charset_and_parameters_may_be_in_the_query() {
    let node = Node::start().await;
    let body = json!({"component_code": EMITTER}).to_string();
    let request = node
        .request(Method::POST, "/sources")
        .header("content-type", "application/json; charset=utf-8");
    node.send(request.query(&[("name", "Queried")]).body(body))
        .await
        .is(200);
    let listed = node.get("/users/me/sources").await.is(200).items();
    assert_eq!(listed[0]["name"], "Queried");
}

#[tokio::test]
async fn include_and_exclude_choose_fields_of_each_object() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let chosen = node
        .get(&format!("{}?include=id,active,nothing", source.path()))
        .await
        .is(200)
        .data();
    assert_eq!(chosen, json!({"id": source.id, "active": true}));
    let rest = node
        .get(&format!("{}?exclude=id,active", source.path()))
        .await
        .is(200)
        .data();
    let mut expected = source.record.clone();
    expected
        .as_object_mut()
        .unwrap()
        .retain(|name, _| name != "id" && name != "active");
    assert_eq!(rest, expected);

    node.run(&source, json!({"emits": [[{"a": 1}, {"name": "n"}]]}))
        .await;
    let path = format!(
        "{}/event_summaries?include=metadata.name,event",
        source.path()
    );
    let page = node.get(&path).await.is(200);
    assert_eq!(
        page.items(),
        [json!({"event": {"a": 1}, "metadata": {"name": "n"}})]
    );
    assert_eq!(page.json()["page_info"]["count"], 1);
}
