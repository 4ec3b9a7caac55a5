//! Faults of a cluster: three nodes on one database under load, each with a wire of its own to it. Nodes are killed, paused,
//! stopped, drained and cut off, and the database ends their connections. Then nothing that was accepted is missing, and
//! nothing is there twice.
//!
//! Here it is short and its seed is always the same; `cargo xtask faults --faults 1000` lets it last. The load goes on as
//! long as the faults do; what happens follows from the seed.

mod havoc;
mod senders;

use std::{collections::BTreeSet, sync::Arc};

use headwater_integration::{Database, Node, Receiver, Source, payloads};
use serde_json::{Value, json};

use self::{havoc::Fleet, senders::Senders};
use crate::crash::seed::Seed;

const FAULTS_VARIABLE: &str = "HEADWATER_FAULTS";
/// Enough for one of each kind.
const FAULTS: usize = 7;
const SEED: u64 = 29;
const NODES: usize = 3;

/// Emits each request once.
const INBOX: &str = r#"export default {
  name: "Inbox", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body, { id: body.id }); },
};"#;
/// Counts its ticks: a number that is missing or there twice was committed by nobody or by two.
const COUNTING: &str = r#"export default {
  name: "Ticks", version: "0.0.1",
  props: { db: "$.service.db", timer: "$.interface.timer" },
  run() {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n });
  },
};"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_loses_nothing_and_does_nothing_twice() {
    let mut seed = Seed::fixed(SEED);
    let database = Arc::new(Database::create());
    let receiver = Receiver::start().await;
    let mut fleet = Fleet::start(&database, NODES).await;
    let node = fleet.node(0);
    let inbox = node.deploy(INBOX, json!({})).await;
    let ticks = json!({"timer": {"intervalSeconds": 1}});
    let ticks = node.deploy(COUNTING, ticks).await;
    let webhook = json!({"url": receiver.url(), "name": "all"});
    let webhook = node.post("/webhooks", webhook).await.is(200).data();
    let subscription = format!(
        "/subscriptions?emitter_id={}&listener_id={}",
        inbox.id,
        webhook["id"].as_str().unwrap()
    );
    node.post(&subscription, json!({})).await.is(200);

    let senders = Senders::start(&fleet.addresses(), &inbox);
    fleet.suffer(&mut seed, faults()).await;
    let sent = senders.end().await;

    let node = fleet.whole().await;
    let events = node
        .events_until(&inbox, |events| events.len() >= sent.ids.len())
        .await;
    let mut wrong = wrong_ids("the log", &sent.ids, &ids(&payloads(&events)), true);
    let received = receiver
        .until(|all| ids_of(all).len() >= sent.ids.len())
        .await;
    wrong.extend(wrong_ids(
        "the webhook",
        &sent.ids,
        &ids_of_all(&received),
        false,
    ));
    wrong.extend(wrong_ticks(node, &ticks).await);
    tell(&format!(
        "faults: {}; {} requests accepted, {} sent again; the longest waits of a request: {}",
        fleet.shown(),
        sent.ids.len(),
        sent.again,
        sent.waits()
    ));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn faults() -> usize {
    let given = std::env::var(FAULTS_VARIABLE).ok();
    given.map_or(FAULTS, |text| text.parse().expect("faults are a number"))
}

/// The ids that are missing, that nobody sent, and those that are there twice where that is a fault.
fn wrong_ids(place: &str, sent: &BTreeSet<u64>, found: &[u64], is_once: bool) -> Vec<String> {
    let unique: BTreeSet<u64> = found.iter().copied().collect();
    let missing = sent.difference(&unique);
    let mut wrong: Vec<_> = missing
        .map(|id| format!("request {id} was accepted and is not in {place}"))
        .collect();
    let unknown = unique.difference(sent);
    wrong.extend(unknown.map(|id| format!("request {id} is in {place} and was never accepted")));
    if is_once && unique.len() < found.len() {
        let twice = found.len() - unique.len();
        wrong.push(format!("{twice} requests are in {place} more than once"));
    }
    wrong
}

async fn wrong_ticks(node: &Node, source: &Source) -> Vec<String> {
    let numbers: Vec<_> = payloads(&node.events(source).await);
    let numbers: Vec<_> = numbers
        .iter()
        .filter_map(|event| event["n"].as_u64())
        .collect();
    assert!(!numbers.is_empty(), "no timer fired");
    let pairs = numbers.windows(2).filter(|pair| pair[1] != pair[0] + 1);
    pairs
        .map(|pair| format!("tick {} is followed by {}", pair[0], pair[1]))
        .collect()
}

fn ids(events: &[Value]) -> Vec<u64> {
    events
        .iter()
        .filter_map(|event| event["id"].as_u64())
        .collect()
}

fn ids_of_all(received: &[headwater_integration::Received]) -> Vec<u64> {
    let bodies: Vec<_> = received.iter().map(|delivery| delivery.json()).collect();
    let events = bodies.iter().map(|body| match body.get("event") {
        Some(event) => event.clone(),
        None => body.clone(),
    });
    ids(&events.collect::<Vec<_>>())
}

fn ids_of(received: &[headwater_integration::Received]) -> BTreeSet<u64> {
    ids_of_all(received).into_iter().collect()
}

#[expect(clippy::print_stderr, reason = "the figures are for people")]
fn tell(line: &str) {
    eprintln!("{line}");
}
