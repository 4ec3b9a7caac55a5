//! `{public-url}/e/{token}` of an interface without `customResponse`: durable, then answered, then run.

use headwater_integration::{Method, Node, payloads};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::code::INBOX;

#[tokio::test]
async fn a_request_is_accepted_and_becomes_an_event() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let anyone = node.with_key(None);
    let request = anyone
        .request(
            Method::PUT,
            &format!("{}/a/b?x=1&x=2&y=%C3%BC", source.endpoint()),
        )
        .header("X-Custom-Header", "Value")
        .json(&json!({"order": 7}));
    let answer = anyone.send(request).await.is(200);
    assert_eq!(answer.json(), json!({"success": true}));

    let events = node
        .events_until(&source, |events| !events.is_empty())
        .await;
    let event = &events[0]["event"];
    assert_eq!(event["method"], "PUT");
    assert_eq!(event["path"], "/a/b");
    assert_eq!(event["query"]["y"], "ü");
    assert_eq!(event["headers"]["x-custom-header"], "Value");
    assert_eq!(event["headers"]["content-type"], "application/json");
    assert_eq!(event["bodyRaw"], "{\"order\":7}");
    assert_eq!(event["body"], json!({"order": 7}));
    assert_eq!(
        event["url"],
        json!(format!("{}/a/b?x=1&x=2&y=%C3%BC", source.endpoint()))
    );
    assert_eq!(event["client_ip"], "127.0.0.1");
    assert_eq!(event["inferred_body_type"], "JSON");
}

#[tokio::test]
async fn a_trusted_proxy_says_who_called_and_nobody_else() {
    for (trusted, client_ip) in [("127.0.0.0/8", "203.0.113.7"), ("10.0.0.0/8", "127.0.0.1")] {
        let flag = format!("--trusted-proxies={trusted}");
        let node = Node::builder().flag(&flag).start().await;
        let source = node.deploy(INBOX, json!({})).await;
        let request = node.request(Method::POST, source.endpoint());
        let request = request.header("x-forwarded-for", "198.51.100.1, 203.0.113.7");
        node.send(request.json(&json!({}))).await.is(200);
        let events = node
            .events_until(&source, |events| !events.is_empty())
            .await;
        assert_eq!(events[0]["event"]["client_ip"], client_ip);
    }
}

#[tokio::test]
async fn bodies_are_read_as_what_they_are() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let post = async |content_type: &str, body: Vec<u8>| {
        let request = node.request(Method::POST, source.endpoint());
        node.send(request.header("content-type", content_type).body(body))
            .await
            .is(200);
    };
    post("application/x-www-form-urlencoded", b"a=1&b=x+y".to_vec()).await;
    node.events_until(&source, |events| events.len() == 1).await;
    post("text/plain", b"just text".to_vec()).await;
    node.events_until(&source, |events| events.len() == 2).await;
    post("application/octet-stream", vec![0xff, 0x00, 0xfe]).await;
    let events = payloads(&node.events_until(&source, |events| events.len() == 3).await);
    assert_eq!(events[0]["body"], json!({"a": "1", "b": "x y"}));
    assert_eq!(events[0]["bodyRaw"], "a=1&b=x+y");
    assert_eq!(events[1]["body"], "just text");
    assert_eq!(
        (&events[2]["bodyRaw"], &events[2]["isBase64"]),
        (&json!("/wD+"), &json!(true))
    );
}

#[tokio::test]
async fn any_method_will_do_and_the_path_is_never_empty() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"] {
        let request = node.request(
            Method::from_bytes(method.as_bytes()).unwrap(),
            source.endpoint(),
        );
        node.send(request).await.is(200);
    }
    let events = payloads(&node.events_until(&source, |events| events.len() == 7).await);
    let mut methods: Vec<_> = events
        .iter()
        .map(|event| event["method"].as_str().unwrap())
        .collect();
    methods.sort_unstable();
    assert_eq!(
        methods,
        ["DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT", "QUERY"]
    );
    assert!(
        events.iter().all(|event| event["path"] == "/"),
        "{events:?}"
    );
}

#[tokio::test]
async fn slashes_belong_to_the_components_path() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    node.get(&format!("{}/a//b/", source.endpoint()))
        .await
        .is(200);
    let events = node
        .events_until(&source, |events| !events.is_empty())
        .await;
    assert_eq!(events[0]["event"]["path"], "/a//b/");
}

#[tokio::test]
async fn every_accepted_request_is_emitted() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let requests = (0..60).map(|n| {
        let node = &node;
        let path = format!("{}/{n}", source.endpoint());
        async move { node.get(&path).await.is(200) }
    });
    futures::future::join_all(requests).await;
    let events = node
        .events_until(&source, |events| events.len() >= 60)
        .await;
    let mut paths: Vec<_> = events
        .iter()
        .map(|event| event["event"]["path"].as_str().unwrap().to_owned())
        .collect();
    paths.sort_unstable();
    let mut expected: Vec<_> = (0..60).map(|n| format!("/{n}")).collect();
    expected.sort_unstable();
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn an_unknown_endpoint_is_not_found() {
    let node = Node::start().await;
    for token in ["nonsense", "nonsense/a/b"] {
        let error = node
            .post(&format!("{}/e/{token}", node.url()), json!({}))
            .await
            .is(404)
            .error();
        assert_eq!(error["code"], "not_found");
    }
}

#[tokio::test]
async fn a_body_over_ten_mebibytes_is_refused_before_it_is_read() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let address = node.url().strip_prefix("http://").unwrap().to_owned();
    let path = source.endpoint().strip_prefix(&node.url()).unwrap();
    let mut connection = tokio::net::TcpStream::connect(&address).await.unwrap();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: 10485761\r\n\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut status_line = [0; 12];
    connection.read_exact(&mut status_line).await.unwrap();
    assert_eq!(std::str::from_utf8(&status_line).unwrap(), "HTTP/1.1 413");

    let request = node
        .request(Method::POST, source.endpoint())
        .body(vec![b'x'; 10_485_760]);
    node.send(request).await.is(200);
}

#[tokio::test]
async fn a_run_that_throws_does_not_change_the_answer() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Failing",
  version: "0.0.1",
  props: { http: "$.interface.http" },
  run() { throw new Error("no"); },
};
"#;
    let source = node.deploy(code, json!({})).await;
    assert_eq!(
        node.post(source.endpoint(), json!({"a": 1}))
            .await
            .is(200)
            .json(),
        json!({"success": true})
    );
    let errors = node
        .channel_until(&source, "$errors", |events| !events.is_empty())
        .await;
    assert_eq!(
        errors[0]["event"]["original_event"]["body"],
        json!({"a": 1})
    );
    assert_eq!(node.events(&source).await, [Value::Null; 0]);
}

#[tokio::test]
async fn endpoints_are_served_under_a_domain_of_their_own_too() {
    let node = Node::builder()
        .flag("--endpoint-domain=hooks.example")
        .start()
        .await;
    let source = node.deploy(INBOX, json!({})).await;
    let endpoint = source.endpoint().to_owned();
    let host = endpoint.strip_prefix("https://").unwrap();
    assert!(host.ends_with(".hooks.example"), "{endpoint}");
    let request = node
        .with_key(None)
        .request(Method::GET, "//a/b?x=1")
        .header("host", host);
    node.send(request).await.is(200);
    let events = node
        .events_until(&source, |events| !events.is_empty())
        .await;
    assert_eq!(events[0]["event"]["path"], "/a/b");
    assert_eq!(
        events[0]["event"]["url"],
        json!(format!("{endpoint}/a/b?x=1"))
    );
}
