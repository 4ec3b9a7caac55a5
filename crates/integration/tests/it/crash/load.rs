//! Requests at a plain HTTP source while its node is killed: what was answered is emitted.

use headwater_integration::Node;
use serde_json::json;

use super::{
    clients::Clients,
    counted::{Record, counting, settle},
    seed::Seed,
};

async fn node() -> Node {
    Node::builder()
        .own_address()
        .flag("--retained-events=100000")
        .start()
        .await
}

/// A round is shorter than the 100 ids that `unique` remembers, and its runs have ended before the next
/// one: a request that is sent again because a kill took its answer comes before that many others.
#[tokio::test(flavor = "multi_thread")]
async fn every_answered_request_is_emitted_exactly_once() {
    const ROUNDS: usize = 8;
    const IDS: usize = 80;
    let mut seed = Seed::new();
    let mut node = node().await;
    let source = node.deploy(&counting(true), json!({})).await;
    let clients = Clients::of(&source);
    for round in 0..ROUNDS {
        let ids = round * IDS..(round + 1) * IDS;
        let mut moments = vec![ids.start + seed.below(IDS), ids.start + seed.below(IDS)];
        moments.sort_unstable();
        let sending = clients.send(ids);
        for moment in moments {
            clients.until_answered(moment).await;
            clients.crash(&mut node).await;
        }
        sending.join_all().await;
        node.events_until(&source, |events| events.len() >= (round + 1) * IDS)
            .await;
    }
    settle(&node, &source, &clients, ROUNDS * IDS).await;
    let record = Record::read(&node, &source).await;
    record.check_runs(&clients.tally());
    record.check_unique();
    assert_eq!(record.events.len(), ROUNDS * IDS + 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_runs_at_most_once_and_every_answered_one_does() {
    const IDS: usize = 2_000;
    const KILLS: usize = 8;
    let mut seed = Seed::new();
    let mut node = node().await;
    let source = node.deploy(&counting(false), json!({})).await;
    let clients = Clients::of(&source);
    let sending = clients.send(0..IDS);
    for kill in 0..KILLS {
        clients
            .until_answered(kill * IDS / KILLS + seed.below(IDS / KILLS))
            .await;
        clients.crash(&mut node).await;
    }
    sending.join_all().await;
    settle(&node, &source, &clients, IDS).await;
    let record = Record::read(&node, &source).await;
    record.check_runs(&clients.tally());
    assert_eq!(
        record.events, record.runs,
        "a run and its event are committed together"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_a_stopping_node_answers_are_kept() {
    const IDS: usize = 600;
    const STOPS: usize = 3;
    let mut seed = Seed::new();
    let mut node = node().await;
    let source = node.deploy(&counting(false), json!({})).await;
    let clients = Clients::of(&source);
    let sending = clients.send(0..IDS);
    for stop in 0..STOPS {
        clients
            .until_answered(stop * IDS / STOPS + seed.below(IDS / STOPS))
            .await;
        let status = node.terminate().await;
        assert!(status.success(), "{status}");
        clients.restart(&mut node).await;
    }
    sending.join_all().await;
    settle(&node, &source, &clients, IDS).await;
    let record = Record::read(&node, &source).await;
    record.check_runs(&clients.tally());
    assert_eq!(record.events, record.runs);
}
