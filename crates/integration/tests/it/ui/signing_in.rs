//! Sessions as a browser has them: how they begin, what they open, and how they end.

use headwater_integration::{Method, Node};
use serde_json::json;

use super::visitor::{Visitor, cookie_of, sign_in};

#[tokio::test]
async fn a_key_signs_in_and_leads_to_the_page_that_was_asked_for() {
    let node = Node::start().await;
    let anybody = node.with_key(None);
    let page = anybody.get("//sources?state=failing").await.is(303);
    assert_eq!(
        page.header("location"),
        "/signin?next=%2Fsources%3Fstate%3Dfailing"
    );
    let form = anybody
        .get(&format!("/{}", page.header("location")))
        .await
        .is(200);
    assert!(
        form.text.contains("value=\"/sources?state=failing\""),
        "{}",
        form.text
    );
    let answer = sign_in(&anybody, node.api_key(), "/sources?state=failing")
        .await
        .is(303);
    assert_eq!(answer.header("location"), "/sources?state=failing");
    let set = answer.header("set-cookie");
    for part in ["; HttpOnly", "; SameSite=Lax", "; Path=/"] {
        assert!(set.contains(part), "{set}");
    }
    // Another node on the same host has another port, and so another cookie.
    let port = node.url().rsplit(':').next().unwrap().to_owned();
    assert!(set.starts_with(&format!("headwater-{port}=")), "{set}");
}

#[tokio::test]
async fn a_wrong_key_signs_nobody_in_and_is_heard_a_few_times_only() {
    let node = Node::start().await;
    let anybody = node.with_key(None);
    for _ in 0..10 {
        let answer = sign_in(&anybody, "hw_nobody", "/").await.is(401);
        assert!(
            answer.text.contains("Nobody has this key"),
            "{}",
            answer.text
        );
        assert_eq!(answer.header("set-cookie"), "");
    }
    let answer = sign_in(&anybody, "hw_nobody", "/").await.is(429);
    assert!(answer.text.contains("Too many attempts"), "{}", answer.text);
    assert!(answer.text.contains("data-countdown="), "{}", answer.text);
    // A link is no way around it.
    anybody.get("//signin/nothing").await.is(429);
    // The right one has to wait, too; the API does not.
    sign_in(&anybody, node.api_key(), "/").await.is(429);
    node.get("/users/me").await.is(200);
}

#[tokio::test]
async fn a_session_ends_at_once_wherever_it_is_ended() {
    let node = Node::start().await;
    let one = Visitor::of(&node).await;
    one.get("/sources").await.is(200);
    let of_one = node.get("/sessions").await.is(200).items().remove(0);
    let two = Visitor::of(&node).await;
    let sessions = node.get("/sessions").await.is(200).items();
    assert_eq!(sessions.len(), 2);
    let path = format!("/sessions/{}", of_one["id"].as_str().unwrap());
    node.delete(&path).await.is(204);
    one.get("/sources").await.is(303);
    let answer = two.post("/signout", &[]).await.is(303);
    assert_eq!(answer.header("location"), "/signin");
    assert!(
        answer.header("set-cookie").contains("Max-Age=0"),
        "{answer:?}"
    );
    two.get("/sources").await.is(303);
    assert!(node.get("/sessions").await.is(200).items().is_empty());
}

#[tokio::test]
async fn a_session_ends_with_its_key() {
    let node = Node::start().await;
    let made = node
        .post("/keys", json!({"name": "laptop"}))
        .await
        .is(200)
        .data();
    let visitor = Visitor::with(&node, made["key"].as_str().unwrap()).await;
    visitor.get("/sources").await.is(200);
    node.delete(&format!("/keys/{}", made["id"].as_str().unwrap()))
        .await
        .is(204);
    visitor.get("/sources").await.is(303);
}

#[tokio::test]
async fn a_session_outlasts_the_node_and_is_in_no_file() {
    let mut node = Node::builder().own_address().start().await;
    let visitor = Visitor::of(&node).await;
    let secret = visitor.cookie.split_once('=').unwrap().1.to_owned();
    node.kill_9();
    node.restart().await;
    let port = node.url().rsplit(':').next().unwrap().to_owned();
    let visitor = Visitor {
        cookie: format!("headwater-{port}={secret}"),
        ..Visitor::of(&node).await
    };
    visitor.get("/sources").await.is(200);
    for file in node.store_files() {
        let bytes = std::fs::read(&file).unwrap();
        let is_in = bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes());
        assert!(!is_in, "{}", file.display());
    }
}

#[tokio::test]
async fn a_link_signs_one_browser_in() {
    let node = Node::start().await;
    let link = node.post("/sign_in_links", json!({})).await.is(200).data();
    let url = link["url"].as_str().unwrap().to_owned();
    let anybody = node.with_key(None);
    // A preview of the link does not use it up.
    for _ in 0..2 {
        let page = anybody.get(&url).await.is(200);
        assert!(
            page.text.contains("Sign this browser in as"),
            "{}",
            page.text
        );
    }
    let follow = || {
        let request = anybody.request(Method::POST, &url);
        anybody.send(request.header("sec-fetch-site", "same-origin"))
    };
    let answer = follow().await.is(303);
    let cookie = cookie_of(&answer);
    let visitor = Visitor {
        cookie,
        ..Visitor::of(&node).await
    };
    visitor.get("/sources").await.is(200);
    let page = follow().await.is(410);
    assert!(page.text.contains("headwater open"), "{}", page.text);
    anybody.get(&url).await.is(410);
}

#[tokio::test]
async fn a_stream_without_a_session_says_so_and_ends() {
    let node = Node::start().await;
    let anybody = node.with_key(None);
    let request = anybody
        .request(Method::GET, "//live?of=changes:sources")
        .header("sec-fetch-site", "same-origin")
        .header("accept", "text/event-stream");
    let answer = anybody.send(request).await.is(200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert!(answer.text.starts_with("event: bye\n"), "{}", answer.text);
    assert!(answer.text.contains("signed out"), "{}", answer.text);
}

#[tokio::test]
async fn cookies_open_pages_and_keys_open_the_api() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    visitor.get("/v1/users/me").await.is(401);
    let page = node.get("//sources").await.is(303);
    assert_eq!(page.header("location"), "/signin?next=%2Fsources");
}

#[tokio::test]
async fn the_page_names_the_command_that_signs_in_at_this_node() {
    let node = Node::start().await;
    let page = node.with_key(None).get("//signin").await.is(200);
    let command = format!("headwater open --url {} --data-dir DATA_DIR", node.url());
    assert!(page.text.contains(&command), "{}", page.text);
}
