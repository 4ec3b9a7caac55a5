//! Endpoints are answered as another site would be: nothing of a component's answer reaches the node's
//! own pages or another endpoint, and nothing of the node's pages reaches the component.

use headwater_integration::{Answer, Method, Node};
use serde_json::json;

use crate::code::INBOX;

const SANDBOX: &str = "sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads";

/// Answers with a page and every header that would reach beyond it.
const PAGE: &str = r#"export default {
  name: "Page", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run() {
    this.http.respond({
      status: 200,
      headers: {
        "Content-Type": "text/html",
        "Content-Security-Policy": "default-src *",
        "Service-Worker-Allowed": "/",
        "Clear-Site-Data": "\"*\"",
        "Strict-Transport-Security": "max-age=1",
        "X-Own": "kept",
        "Set-Cookie": ["own=1; Path=/; HttpOnly", "headwater-3000=forged; Path=/"],
      },
      body: "<script>fetch('/sources')</script>",
    });
  },
};"#;

fn all<'a>(answer: &'a Answer, name: &str) -> Vec<&'a str> {
    let values = answer.headers.get_all(name).iter();
    values.map(|value| value.to_str().unwrap()).collect()
}

#[tokio::test]
async fn by_path_nothing_reaches_beyond_the_endpoint() {
    let node = Node::start().await;
    let source = node.deploy(PAGE, json!({})).await;
    let answer = node.with_key(None).get(source.endpoint()).await.is(200);
    assert_eq!(
        all(&answer, "content-security-policy"),
        ["default-src *", SANDBOX]
    );
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("x-own"), "kept");
    for dropped in [
        "service-worker-allowed",
        "clear-site-data",
        "strict-transport-security",
    ] {
        assert!(!answer.headers.contains_key(dropped), "{dropped}");
    }
    let path = source.endpoint().trim_start_matches(&node.url());
    assert_eq!(
        all(&answer, "set-cookie"),
        [format!("own=1; HttpOnly; Path={path}")]
    );
}

#[tokio::test]
async fn answers_of_the_node_itself_are_set_apart_too() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    for (path, status) in [
        (source.endpoint(), 200),
        ("//e/nosuchtoken", 404),
        ("//e/", 404),
    ] {
        let answer = node.with_key(None).get(path).await.is(status);
        assert_eq!(answer.header("content-security-policy"), SANDBOX, "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
    }
    let api = node.get("/users/me").await.is(200);
    assert!(!api.headers.contains_key("content-security-policy"));
}

/// Redirects, fails, or answers, by the path that is asked for.
const MOODY: &str = r#"export default {
  name: "Moody", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run(event) {
    if (event.path === "/throw") throw new Error("no");
    const elsewhere = event.path === "/redirect";
    this.http.respond({
      status: elsewhere ? 302 : 200,
      headers: {
        ...(elsewhere && { Location: "/docs" }),
        "Content-Type": "text/html",
        "X-Content-Type-Options": "sniff",
        "Set-Cookie": ["own=1", "__Host-headwater=forged; Path=/; Secure"],
      },
      body: "<p>hi</p>",
    });
  },
};"#;

#[tokio::test]
async fn redirects_failures_and_answers_without_a_body_are_set_apart_too() {
    let node = Node::start().await;
    let source = node.deploy(MOODY, json!({})).await;
    let endpoint = source.endpoint();
    let path = endpoint.trim_start_matches(&node.url());
    let own = format!("own=1; Path={path}");
    for (method, asked, status, cookies) in [
        (Method::HEAD, "/", 200, vec![&*own]),
        (Method::POST, "/deep", 200, vec![&*own]),
        (Method::GET, "/redirect", 302, vec![&*own]),
        (Method::HEAD, "/redirect", 302, vec![&*own]),
        (Method::GET, "/throw", 500, vec![]),
        (Method::HEAD, "/throw", 500, vec![]),
    ] {
        let shown = format!("{method} {asked}");
        let request = node.request(method, &format!("{endpoint}{asked}"));
        let answer = node.send(request).await.is(status);
        assert_eq!(
            all(&answer, "content-security-policy"),
            [SANDBOX],
            "{shown}"
        );
        assert_eq!(
            all(&answer, "x-content-type-options"),
            ["nosniff"],
            "{shown}"
        );
        assert_eq!(all(&answer, "set-cookie"), cookies, "{shown}");
        if status == 302 {
            assert_eq!(answer.header("location"), "/docs", "{shown}");
        }
    }
}

#[tokio::test]
async fn cookies_of_the_nodes_pages_do_not_reach_components() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let sent = [
        ("headwater_c_1=x; own=1; __Host-headwater=y", Some("own=1")),
        ("headwater-3000=x", None),
    ];
    for (count, (cookies, left)) in (1..).zip(sent) {
        let request = node.request(Method::GET, source.endpoint());
        node.send(request.header("cookie", cookies)).await.is(200);
        // Both at once might be emitted in another order.
        let events = node
            .events_until(&source, |events| events.len() == count)
            .await;
        let headers = &events[count - 1]["event"]["headers"];
        let cookie = headers.get("cookie").map(|cookie| cookie.as_str().unwrap());
        assert_eq!(cookie, left, "{headers}");
    }
}

#[tokio::test]
async fn on_hosts_of_another_site_authors_decide() {
    let node = Node::builder()
        .flag("--endpoint-domain=hooks.example")
        .start()
        .await;
    let source = node.deploy(PAGE, json!({})).await;
    let host = source.endpoint().trim_start_matches("https://").to_owned();
    let request = node.request(Method::GET, "//").header("host", host);
    let answer = node.send(request).await.is(200);
    assert_eq!(all(&answer, "content-security-policy"), ["default-src *"]);
    assert_eq!(answer.header("service-worker-allowed"), "/");
    assert_eq!(all(&answer, "set-cookie"), ["own=1; Path=/; HttpOnly"]);
}

#[tokio::test]
async fn hosts_of_the_nodes_own_site_are_set_apart() {
    let node = Node::builder()
        .flag("--public-url=https://node.example.com")
        .flag("--endpoint-domain=hooks.example.com")
        .start()
        .await;
    let source = node.deploy(PAGE, json!({})).await;
    let host = source.endpoint().trim_start_matches("https://").to_owned();
    let request = node.request(Method::GET, "//").header("host", host);
    let answer = node.send(request).await.is(200);
    assert_eq!(
        all(&answer, "content-security-policy"),
        ["default-src *", SANDBOX]
    );
    assert!(!answer.headers.contains_key("clear-site-data"));
    let unknown = node
        .request(Method::GET, "//")
        .header("host", "nosuchtoken.hooks.example.com");
    let answer = node.send(unknown).await.is(404);
    assert_eq!(all(&answer, "content-security-policy"), [SANDBOX]);
}

#[tokio::test]
async fn an_operator_who_trusts_all_authors_may_say_so() {
    let node = Node::builder()
        .flag("--sandbox-endpoints=false")
        .start()
        .await;
    let source = node.deploy(PAGE, json!({})).await;
    let answer = node.get(source.endpoint()).await.is(200);
    assert_eq!(all(&answer, "content-security-policy"), ["default-src *"]);
    assert_eq!(answer.header("service-worker-allowed"), "/");
    // The node's own cookies are never a component's to set.
    assert_eq!(all(&answer, "set-cookie"), ["own=1; Path=/; HttpOnly"]);
}
