//! No operation answers without a key, or with one that nobody has.

use headwater_integration::{Method, Node};

/// Every operation of the API.
pub(crate) const OPERATIONS: &[(&str, &str)] = &[
    ("POST", "/components"),
    ("GET", "/components/{key_or_id}"),
    ("GET", "/components/registry/{key}"),
    ("POST", "/sources"),
    ("GET", "/sources/{id}"),
    ("PUT", "/sources/{id}"),
    ("PATCH", "/sources/{id}"),
    ("DELETE", "/sources/{id}"),
    ("POST", "/sources/{id}/run"),
    ("GET", "/sources/{id}/logs"),
    ("GET", "/sources/{id}/event_summaries"),
    ("DELETE", "/sources/{id}/events"),
    ("GET", "/workflows/{id}/event_summaries"),
    ("GET", "/workflows/{id}/$errors/event_summaries"),
    ("POST", "/subscriptions"),
    ("DELETE", "/subscriptions"),
    ("GET", "/accounts"),
    ("POST", "/accounts"),
    ("DELETE", "/accounts/{id}"),
    ("GET", "/users/me"),
    ("GET", "/users/me/sources"),
    ("GET", "/users/me/subscriptions"),
    ("GET", "/orgs/{id}/sources"),
];

#[tokio::test]
async fn no_operation_answers_without_a_known_key() {
    let node = Node::start().await;
    for (key, why) in [
        (None, "no key"),
        (Some("hw_nobody"), "an unknown key"),
        (Some(""), "an empty key"),
    ] {
        let client = node.with_key(key);
        for (method, path) in OPERATIONS {
            let request = client.request(Method::from_bytes(method.as_bytes()).unwrap(), path);
            let answer = client.send(request).await;
            assert_eq!(
                answer.status, 401,
                "{method} {path} with {why}: {}",
                answer.text
            );
            assert_eq!(
                answer.header("www-authenticate"),
                "Bearer",
                "{method} {path}"
            );
            assert_eq!(answer.error()["code"], "unauthenticated", "{method} {path}");
        }
    }
}

#[tokio::test]
async fn every_operation_exists() {
    let node = Node::start().await;
    for (method, path) in OPERATIONS {
        let request = node.request(Method::from_bytes(method.as_bytes()).unwrap(), path);
        let answer = node.send(request).await;
        let message = match answer.status {
            200 => continue,
            _ => answer.error()["message"].as_str().unwrap().to_owned(),
        };
        assert_ne!(answer.status, 405, "{method} {path}");
        assert!(
            !message.contains("nothing answers"),
            "{method} {path}: {message}"
        );
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
