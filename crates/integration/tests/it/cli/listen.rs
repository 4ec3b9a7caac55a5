//! `headwater listen` and `headwater webhooks verify`: a receiver on this machine, and a node that may not reach it.

use std::collections::HashSet;

use headwater_integration::{Dialogue, Node, Receiver, Reply, standard_webhooks::verify};
use serde_json::{Value, json};

use crate::code::EMITTER;

async fn emit(node: &Node, source: &headwater_integration::Source, emits: Value) {
    node.run(source, json!({"emits": emits})).await;
}

fn listen(node: &Node, arguments: &[&str]) -> Dialogue {
    let folder = std::env::temp_dir();
    node.start_cli(&folder, &[&["listen"], arguments].concat())
}

/// Waits until it has begun and has told of those events, which are on another stream than notes; tells the secret.
async fn secret_of(listening: &mut Dialogue, events: &[&str]) -> String {
    let notes = ["secret of the signatures: ", "Ctrl-C ends"];
    listening.expect_all(&[&notes[..], events].concat()).await;
    let printed = listening.transcript();
    let (_, secret) = printed.split_once(notes[0]).unwrap();
    secret.split_whitespace().next().unwrap().to_owned()
}

#[tokio::test]
async fn events_are_sent_on_signed_and_each_is_told_with_its_answer() {
    let node = Node::start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|request| match request.text().contains("bad") {
        true => Reply::status(500),
        false => Reply::status(200),
    });
    let source = node.deploy(EMITTER, json!({})).await;
    emit(&node, &source, json!([[{"n": 0}, {}]])).await;
    let address = receiver.address().to_string();
    // From the beginning, so that no event can come before the stream is open.
    let mut listening = listen(
        &node,
        &["emitter", "--forward-to", &address, "--since", "1h"],
    );
    let secret = secret_of(&mut listening, &["{\"n\":0}  →  200 OK"]).await;
    let emits = json!([[{"n": 1}, {"name": "news"}], [{"bad": 2}, {"summary": "Two"}]]);
    emit(&node, &source, emits).await;
    listening.expect("news  {\"n\":1}  →  200 OK").await;
    listening
        .expect("Two  →  500 Internal Server Error, ")
        .await;
    listening.signal("INT").await;
    assert_eq!(listening.end().await.code(), Some(0));

    let requests = receiver.received();
    let bodies: Vec<_> = requests.iter().map(|request| request.text()).collect();
    assert_eq!(bodies, ["{\"n\":0}", "{\"n\":1}", "{\"bad\":2}"]);
    let ids: HashSet<_> = requests
        .iter()
        .map(|request| request.headers["webhook-id"].to_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(
        requests[1].headers["x-headwater-emitter-id"],
        source.id.as_str()
    );
    assert_eq!(requests[1].headers["x-headwater-channel"], "news");
    assert!(!requests[0].headers.contains_key("authorization"));
    let wrong = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let claims = [(secret.as_str(), &requests[0]), (wrong, &requests[0])];
    assert_eq!(verify(&claims).await, [true, false]);
    assert_verified_by_command(&node, &secret, &requests[0]).await;
}

/// The command judges a saved request as the published library does.
async fn assert_verified_by_command(
    node: &Node,
    secret: &str,
    request: &headwater_integration::Received,
) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("body"), &request.body).unwrap();
    std::fs::write(folder.path().join("changed"), "{}").unwrap();
    let header = |name: &str| request.headers[name].to_str().unwrap().to_owned();
    let (id, time, signature) = (
        header("webhook-id"),
        header("webhook-timestamp"),
        header("webhook-signature"),
    );
    let verify = ["webhooks", "verify"];
    let of = [
        "--id",
        &id,
        "--timestamp",
        &time,
        "--signature",
        &signature,
        "--secret",
        secret,
    ];
    let seen = node
        .cli_in(folder.path(), &[&verify[..], &["body"], &of].concat())
        .await;
    assert_eq!(seen.ok().stdout, "verified\n");
    let seen = node
        .cli_in(folder.path(), &[&verify[..], &["changed"], &of].concat())
        .await;
    assert_eq!((seen.code, &*seen.stdout), (1, "not verified\n"));
    assert!(seen.stderr.contains("every byte"), "{}", seen.stderr);
}

#[tokio::test]
async fn listening_goes_on_through_a_restart_without_loss_or_double() {
    let mut node = Node::builder().own_address().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let arguments = [
        "emitter",
        "--forward-to",
        &receiver.url(),
        "--secret",
        secret,
        "--since",
        "1h",
        "--json",
    ];
    let mut listening = listen(&node, &arguments);
    assert_eq!(secret_of(&mut listening, &[]).await, secret);
    for n in 0..6 {
        emit(&node, &source, json!([[n, {}]])).await;
        listening.expect("\"status\":200").await;
        if n == 2 {
            node.kill_9();
            listening.expect("still trying").await;
            node.restart().await;
        }
    }
    let bodies = receiver.bodies();
    assert_eq!(bodies, ["0", "1", "2", "3", "4", "5"]);
    listening.signal("INT").await;
    assert_eq!(listening.end().await.code(), Some(0));
}

#[tokio::test]
async fn a_receiver_that_is_not_there_is_told_and_only_new_events_are_sent() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    emit(&node, &source, json!([["old", {}]])).await;
    let mut listening = listen(&node, &["emitter", "--forward-to", "127.0.0.1:9"]);
    secret_of(&mut listening, &[]).await;
    emit(&node, &source, json!([["new", {}]])).await;
    let told = listening.expect("refused").await;
    assert!(told.contains("\"new\"") && !told.contains("old"), "{told}");

    for wrong in [
        &["--forward-to", "ftp://a"][..],
        &["--forward-to", "a:1", "--secret", "no"],
        &["--forward-to", "a:1", "--since", "noon"],
    ] {
        let seen = node.cli(&[&["listen", "emitter"], wrong].concat()).await;
        assert_eq!(seen.code, 2, "{}", seen.stderr);
    }
}
