//! Addresses where there is no page.

use headwater_integration::{Answer, Method, Node};

use super::visitor::Visitor;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn opened(node: &Node, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = node
        .with_key(None)
        .request(method, &format!("/{path}"))
        .header("sec-fetch-site", "same-origin");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    node.send(request).await
}

#[tokio::test]
async fn browsers_are_shown_a_page_that_leads_back() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let referer = format!("{}/sources?state=paused", node.url());
    let headers = [
        ("accept", BROWSER),
        ("cookie", &*visitor.cookie),
        ("referer", &*referer),
    ];
    for path in [
        "/nothing",
        "/sources/a/b/c",
        "/settings/none",
        "/v1s",
        "/docs/x",
    ] {
        let page = opened(&node, Method::GET, path, &headers).await.is(404);
        assert!(
            page.header("content-type").starts_with("text/html")
                && page.text.contains("There is no page here")
                && page.text.contains("href=\"/sources?state=paused\"")
                && page.text.contains("href=\"/\"")
                && page.text.contains("aria-label=\"Main\""),
            "{path}: {}",
            page.text
        );
        assert!(page.header("content-security-policy").contains("'nonce-"));
    }
    // The page that led here is one of this node, or is not named.
    for referer in ["https://other.example/", "javascript:alert(1)", "//other"] {
        let headers = [
            ("accept", BROWSER),
            ("cookie", &*visitor.cookie),
            ("referer", referer),
        ];
        let page = opened(&node, Method::GET, "/nothing", &headers)
            .await
            .is(404);
        assert!(!page.text.contains("Back"), "{referer}: {}", page.text);
    }
    // Strangers learn nothing of the node.
    let headers = [("accept", BROWSER)];
    let page = opened(&node, Method::GET, "/nothing", &headers)
        .await
        .is(404);
    assert!(
        page.text.contains("There is no page here") && !page.text.contains("aria-label=\"Main\""),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn the_address_of_a_form_is_no_page() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let headers = [("accept", BROWSER), ("cookie", &*visitor.cookie)];
    for path in ["/signout", "/theme", "/accounts/connect"] {
        let page = opened(&node, Method::GET, path, &headers).await.is(405);
        assert_eq!(page.header("allow"), "POST", "{path}");
        assert!(page.text.contains("There is no page here"), "{path}");
    }
    visitor.get("/settings").await.is(200);
}

#[tokio::test]
async fn clients_of_the_api_get_json() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let cookie = ("cookie", &*visitor.cookie);
    for (method, path, accept) in [
        (Method::GET, "/nothing", "*/*"),
        (Method::GET, "/nothing", "application/json"),
        (Method::POST, "/nothing", BROWSER),
        (Method::DELETE, "/nothing", BROWSER),
    ] {
        let headers = [("accept", accept), cookie];
        let answer = opened(&node, method, path, &headers).await.is(404);
        assert!(answer.error()["code"].is_string(), "{path}");
    }
    let headers = [("accept", "*/*"), cookie];
    let answer = opened(&node, Method::GET, "/signout", &headers).await;
    answer.is(405).error();
    // Below the API's prefix, whoever asks, and whatever for.
    for path in ["/nothing", "/", "", "/sources/none/more"] {
        let request = node
            .request(Method::GET, path)
            .header("accept", BROWSER)
            .header("cookie", &visitor.cookie);
        node.send(request).await.is(404).error();
    }
    let request = node.request(Method::DELETE, "/users/me");
    let answer = node.send(request.header("accept", BROWSER)).await;
    answer.is(405).error();
}

#[tokio::test]
async fn a_path_that_is_nearly_right_leads_to_the_operation() {
    let node = Node::start().await;
    for (path, status, meant) in [
        ("/sources", 405, "GET /v1/users/me/sources"),
        ("/webhooks", 405, "GET /v1/users/me/webhooks"),
        ("/projects", 404, "GET /v1/workspaces"),
    ] {
        let error = node.get(path).await.is(status).error();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(meant), "{path}: {message}");
    }
}
