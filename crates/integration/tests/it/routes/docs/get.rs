//! `GET /docs`: the API described for people, without a key.

use std::io::Read as _;

use flate2::read::GzDecoder;
use headwater_integration::{Method, Node, Operation};

#[tokio::test]
async fn the_page_shows_every_operation_and_needs_nothing_else() {
    let node = Node::start().await;
    let page = node.with_key(None).get("//docs").await.is(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    for operation in Operation::all() {
        let path = operation.path.replace('{', "<i>{").replace('}', "}</i>");
        assert!(page.text.contains(&path), "{operation}");
    }
    assert!(page.text.contains(&format!("{}/v1/sources", node.url())));
    assert!(!page.text.contains("<script") && !page.text.contains("src="));
}

#[tokio::test]
async fn the_page_is_guarded_and_compressed() {
    let node = Node::start().await;
    let anyone = node.with_key(None);
    let plain = anyone.get("//docs").await.is(200);
    for (header, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("vary", "accept-encoding"),
        ("content-encoding", ""),
    ] {
        assert_eq!(plain.header(header), value, "{header}");
    }
    let policy = plain.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    for path in ["//docs", "//openapi.json"] {
        let plain = anyone.get(path).await.is(200);
        let request = anyone
            .request(Method::GET, path)
            .header("accept-encoding", "br, gzip");
        let answer = request.send().await.unwrap();
        assert_eq!(answer.headers()["content-encoding"], "gzip", "{path}");
        let mut unpacked = String::new();
        let bytes = answer.bytes().await.unwrap();
        GzDecoder::new(&bytes[..])
            .read_to_string(&mut unpacked)
            .unwrap();
        assert_eq!(unpacked, plain.text, "{path}");
        assert!(
            bytes.len() * 4 < plain.text.len(),
            "{path}: {}",
            bytes.len()
        );
    }
}
