//! Things that components cannot touch.

use headwater_engine::{
    DenoEngine, EngineError,
    network::{NetworkPolicy, Route},
};
use serde_json::{Value, json};

use crate::harness::{self, Node, Source};

/// A server on this machine, which components must not reach.
async fn local_server() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = axum::Router::new().fallback(|| async { "inside" });
    tokio::spawn(async move { axum::serve(listener, app).await });
    port
}

async fn attempts(node: &Node, deed: &str, port: u16) -> Vec<Value> {
    let messages = node
        .run(
            &Source::named("escape"),
            json!({"deed": deed, "port": port}),
        )
        .await;
    let Value::Array(attempts) = messages.returned() else {
        panic!("{messages:?}")
    };
    assert!(!attempts.is_empty());
    attempts
}

#[tokio::test(flavor = "multi_thread")]
async fn files_processes_and_private_addresses_are_refused() {
    let node = Node::start().await;
    let port = local_server().await;
    for deed in ["files", "processes", "network"] {
        let attempts = attempts(&node, deed, port).await;
        let got: Vec<_> = attempts
            .iter()
            .enumerate()
            .filter(|(_, attempt)| attempt.get("refused").is_none())
            .collect();
        assert!(got.is_empty(), "{deed}: {got:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_reached_when_the_policy_says_so() {
    let node = Node::with(|config| config.network = NetworkPolicy::All).await;
    let attempts = attempts(&node, "network", local_server().await).await;
    assert_eq!(attempts[0], json!({"got": "200"}), "{attempts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn components_see_their_own_environment_only() {
    let node = Node::start().await;
    let messages = node
        .run(&Source::named("steer"), json!({"deed": "environment"}))
        .await;
    let Value::Object(environment) = messages.returned() else {
        panic!("{messages:?}")
    };
    let mut names: Vec<_> = environment.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "NO_COLOR", "PD_COMPONENT", "TMPDIR"]);
    // The machine's paths stay its own where a worker has a root of its own.
    let work_dir = node.work_dir.path().canonicalize().unwrap();
    let home = std::path::Path::new(environment["HOME"].as_str().unwrap());
    match node.engine.status().sandbox["own_root"] {
        true => assert_eq!(home, "/tmp"),
        false => assert!(home.starts_with(work_dir)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_layers_of_the_sandbox_are_told() {
    let node = Node::start().await;
    let sandbox = node.engine.status().sandbox;
    assert_eq!(sandbox.get("deno_permissions"), Some(&true));
    assert_eq!(sandbox.get("process_group"), Some(&true));
    assert!(
        sandbox["confined"] && (sandbox["own_root"] || sandbox["landlock"]),
        "{sandbox:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_deno_would_take_for_two_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let config = harness::config(&parent.path().join("a,b")).await;
    let refused = DenoEngine::start(config).await.err();
    assert!(
        matches!(&refused, Some(EngineError::Unavailable { reason, .. }) if reason.contains("comma")),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nodes_own_api_is_reached_by_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("api.sock");
    let listener = tokio::net::UnixListener::bind(&socket).unwrap();
    let api =
        axum::Router::new().fallback(async |uri: axum::http::Uri| format!("api {}", uri.path()));
    tokio::spawn(async move { axum::serve(listener, api).await });
    let node = Node::with(|config| {
        config.routes = vec![Route::to_this_node("api.headwater.test")];
        config.api_socket = Some(socket);
    })
    .await;
    let messages = node.run(&Source::named("self_alias"), Value::Null).await;
    assert_eq!(
        messages.returned(),
        json!(["api /v1/from-fetch", "api /v1/from-node"])
    );
}
