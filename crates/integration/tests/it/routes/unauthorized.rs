//! No operation answers without a key, or with one that nobody has.

use headwater_integration::{Method, Node, Operation};

/// The operations that answer without a key, and no others.
const OPEN: [&str; 5] = [
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "GET /openapi.json",
    "GET /docs",
];

#[test]
fn only_what_tells_nothing_is_open() {
    let open: Vec<_> = Operation::all()
        .into_iter()
        .filter(|operation| operation.is_open)
        .map(|operation| operation.to_string())
        .collect();
    assert_eq!(open, OPEN);
}

#[tokio::test]
async fn no_operation_answers_without_a_known_key() {
    let node = Node::start().await;
    for (key, why) in [
        (None, "no key"),
        (Some("hw_nobody"), "an unknown key"),
        (Some(""), "an empty key"),
    ] {
        let client = node.with_key(key);
        let operations = Operation::all().into_iter();
        for operation in operations.filter(|operation| !operation.is_open) {
            let request = client.request(operation.method.clone(), &operation.request_path());
            let answer = client.send(request).await;
            assert_eq!(
                answer.status, 401,
                "{operation} with {why}: {}",
                answer.text
            );
            assert_eq!(answer.header("www-authenticate"), "Bearer", "{operation}");
            assert_eq!(answer.error()["code"], "unauthenticated", "{operation}");
        }
    }
}

#[tokio::test]
async fn a_key_of_another_scheme_is_no_key() {
    let node = Node::start().await;
    let client = node.with_key(None);
    for value in [
        format!("Basic {}", node.api_key()),
        node.api_key().to_owned(),
    ] {
        let request = client
            .request(Method::GET, "/users/me")
            .header("authorization", value);
        client.send(request).await.is(401);
    }
}
