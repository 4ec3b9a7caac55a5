//! The rules that browsers hold pages to, and requests that pages of others made a browser send.

use headwater_integration::{Method, Node};
use serde_json::json;

use super::{routes::is_guarded, visitor::Visitor};

#[tokio::test]
async fn every_page_has_its_policy() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    for path in [
        "/",
        "/sources",
        "/signin",
        "/sources/dc_nothing",
        "/assets/none/headwater.css",
    ] {
        let page = visitor.get(path).await;
        if path.starts_with("/assets") {
            assert_eq!(
                page.header("x-content-type-options"),
                "",
                "nothing is there"
            );
            continue;
        }
        is_guarded(&page, path);
    }
}

#[tokio::test]
async fn a_nonce_is_for_one_page() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let (one, two) = (visitor.get("/sources").await, visitor.get("/sources").await);
    assert_ne!(
        one.header("content-security-policy"),
        two.header("content-security-policy")
    );
    let policy = one.header("content-security-policy");
    let (_, rest) = policy.split_once("'nonce-").unwrap();
    let (nonce, _) = rest.split_once('\'').unwrap();
    assert!(
        one.text.contains(&format!("nonce=\"{nonce}\"")),
        "{}",
        one.text
    );
}

#[tokio::test]
async fn forms_of_other_sites_change_nothing() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let source = node
        .deploy(
            "export default { name: 'S', version: '0.0.1', run() {} }",
            json!({}),
        )
        .await;
    let path = format!("//sources/{}/delete", source.id);
    let port = node.url().rsplit(':').next().unwrap().to_owned();
    for headers in [
        &[("sec-fetch-site", "cross-site")][..],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("origin", "null")],
        &[("origin", "http://evil.example")],
        &[],
    ] {
        let mut request = node.with_key(None).request(Method::POST, &path);
        request = request.header("cookie", &visitor.cookie);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = node.send(request).await.is(403);
        assert!(
            answer.text.contains("another site"),
            "{headers:?}: {}",
            answer.text
        );
    }
    node.get(&format!("/sources/{}", source.id)).await.is(200);
    // Browsers of old name the origin only.
    let request = node.with_key(None).request(Method::POST, &path);
    let request = request
        .header("cookie", &visitor.cookie)
        .header("origin", format!("http://127.0.0.1:{port}"));
    node.send(request).await.is(303);
    node.get(&format!("/sources/{}", source.id)).await.is(404);
}

#[tokio::test]
async fn a_name_that_is_not_the_nodes_opens_no_page() {
    let node = Node::start().await;
    for (host, status) in [
        ("evil.example", 421),
        ("evil.example:3000", 421),
        ("localhost", 200),
        ("localhost:3000", 200),
        ("127.0.0.1:3000", 200),
        ("[::1]:3000", 200),
        ("192.0.2.7", 200),
    ] {
        let request = node.with_key(None).request(Method::GET, "//signin");
        let answer = node.send(request.header("host", host)).await;
        assert_eq!(answer.status, status, "{host}: {}", answer.text);
    }
    // The API is spared: its callers have keys, which no browser sends by itself.
    let request = node
        .request(Method::GET, "/users/me")
        .header("host", "evil.example");
    node.send(request).await.is(200);
}

#[tokio::test]
async fn styles_and_script_are_kept_for_good_and_small() {
    let node = Node::start().await;
    let page = node.with_key(None).get("//signin").await.is(200);
    for (before, name, gzip_bytes) in [
        ("href=\"", "headwater.css", 12 * 1_024),
        ("src=\"", "headwater.js", 15 * 1_024),
    ] {
        let end = page.text.find(name).unwrap() + name.len();
        let start = page.text[..end].rfind(before).unwrap() + before.len();
        let path = &page.text[start..end];
        let request = node
            .with_key(None)
            .request(Method::GET, &format!("/{path}"));
        let file = node.send(request.header("accept-encoding", "gzip")).await;
        assert_eq!(
            file.header("cache-control"),
            "public, max-age=31536000, immutable"
        );
        assert_eq!(file.header("content-encoding"), "gzip");
        let length: usize = file.header("content-length").parse().unwrap();
        assert!(length <= gzip_bytes, "{name}: {length} bytes");
    }
}
