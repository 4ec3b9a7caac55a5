//! Proxies before a node, with the configurations of `deploy/`.

use headwater_integration::{CertificateFiles, Client, Node, Proxy};
use serde_json::json;

use crate::code::{EMITTER, INBOX};

/// Beyond the megabyte that nginx takes by default.
const LARGE_BYTES: usize = 2 * 1024 * 1024;

#[tokio::test]
async fn nginx_passes_on_everything() {
    passes_on_everything(Proxy::nginx).await;
}

#[tokio::test]
async fn caddy_passes_on_everything() {
    passes_on_everything(Proxy::caddy).await;
}

async fn passes_on_everything(start: fn(std::net::SocketAddr, &CertificateFiles) -> Proxy) {
    let files = CertificateFiles::new();
    let builder = Node::builder().own_address();
    let mut node = builder
        .env("HEADWATER_TRUSTED_PROXIES", "127.0.0.1")
        .start()
        .await;
    let proxy = start(node.address(), &files);
    node.add_env("HEADWATER_PUBLIC_URL", &proxy.url());
    node.restart().await;
    let client = Client::new(proxy.url(), Some(node.api_key().to_owned()));

    let inbox = node.deploy(INBOX, json!({})).await;
    assert!(inbox.endpoint().starts_with(&proxy.url()));
    from_another_address(&files, inbox.endpoint()).await;
    let events = node.events_until(&inbox, |events| !events.is_empty()).await;
    assert_eq!(events[0]["event"]["client_ip"], "127.0.0.5");
    let large = json!({"text": "x".repeat(LARGE_BYTES)});
    client.post(inbox.endpoint(), large).await.is(200);

    let emitter = node.deploy(EMITTER, json!({})).await;
    let path = format!("{}/sse", emitter.path());
    let mut stream = client.follow(&path, None).await;
    node.run(&emitter, json!({"emits": [["while open", {}]]}))
        .await;
    assert_eq!(stream.payloads(1).await, [json!("while open")]);

    for inside in ["//metrics", "//readyz"] {
        client.get(inside).await.is(404);
        node.get(inside).await.is(200);
    }
    let page = client.get("//").await;
    assert!(page.status < 400, "{}: {}", page.status, page.text);
}

/// A request of another client than all others, which claims to be a third one.
async fn from_another_address(files: &CertificateFiles, endpoint: &str) {
    let authority = std::fs::read(files.authority()).unwrap();
    let authority = reqwest::Certificate::from_pem(&authority).unwrap();
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([authority])
        .local_address(std::net::IpAddr::from([127, 0, 0, 5]))
        .build()
        .unwrap();
    let request = client.post(endpoint).json(&json!({"n": 1}));
    let answer = request.header("X-Forwarded-For", "203.0.113.7").send();
    assert_eq!(answer.await.unwrap().status(), 200);
}
