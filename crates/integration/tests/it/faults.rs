//! Faults of a cluster: three nodes on one database under load, each with a wire of its own to it. Nodes are killed, paused,
//! stopped, drained and cut off, one way or both; the database ends their connections, crashes, and has no room; clocks are
//! wrong. Then nothing that was accepted is missing, nothing is there twice, and everything is in its order.
//!
//! Here it is short, without the dearest kinds, and its seed is always the same; `cargo xtask faults --faults 1000` lets it
//! last. The load goes on as long as the faults do; what happens follows from the seed.

mod fault;
mod fleet;
mod losses;
mod primary;
mod senders;
mod upgrade;
mod verdict;

use std::sync::Arc;

use headwater_integration::{Database, Node, Receiver, Source, payloads, tell};
use serde_json::json;

use self::{
    fault::{SHORT_KINDS, long_kinds},
    fleet::{Fleet, faketime},
    losses::Losses,
    senders::{Senders, Sent},
    verdict::Verdict,
};
use crate::{
    crash::seed::Seed,
    workflows::{Folder, Workflow},
};

const FAULTS_VARIABLE: &str = "HEADWATER_FAULTS";
const SEED: u64 = 29;
const NODES: usize = 3;

/// Emits each request once.
const INBOX: &str = r#"export default {
  name: "Inbox", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body, { id: body.id }); },
};"#;
/// Emits each event that it listens to.
const LISTENING: &str = r#"export default {
  name: "Listening", version: "0.0.1",
  run(event) { this.$emit({ id: event.id }); },
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

/// Rests, goes on, and emits the event that started it.
const RESTING: [(&str, &str); 2] = [
    ("rest", "$.flow.delay(300);"),
    ("emit", "$.send.emit({ n: steps.trigger.event.n });"),
];

/// The sources that the load goes to, and a workflow.
struct Sources {
    inbox: Source,
    listening: Source,
    ticks: Source,
    /// Its runs are started by ticks.
    resting: Workflow,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_loses_nothing_and_does_nothing_twice() {
    let mut seed = Seed::fixed(SEED);
    let database = Arc::new(Database::on_its_own_server());
    let receiver = Receiver::start().await;
    let mut fleet = Fleet::start(&database, NODES).await;
    let sources = deploy(fleet.node(0), &receiver).await;
    let (kinds, faults) = match std::env::var(FAULTS_VARIABLE) {
        // One of each kind.
        Err(_) => (SHORT_KINDS.to_vec(), SHORT_KINDS.len()),
        Ok(text) => (
            long_kinds(&database, faketime().is_some()),
            text.parse().expect("faults are a number"),
        ),
    };

    let senders = Senders::start(&fleet.addresses(), &sources.inbox);
    let mut losses = Losses::of(&database, &sources.ticks);
    fleet.suffer(&mut seed, &kinds, faults, &mut losses).await;
    let sent = senders.end().await;

    let node = fleet.whole().await;
    let mut verdict = judge(node, &sources, &receiver, &sent).await;
    verdict.by_one_node(&database, &sources.ticks);
    let (from, to) = (&sources.ticks.id, sources.resting.id());
    verdict.each_once(&database, from, to).await;
    tell(&format!(
        "seed {seed}; faults: {}\n{} requests accepted, {} sent again; the longest waits of a request: {}\n{}",
        fleet.shown(),
        sent.ids.len(),
        sent.again,
        sent.waits(),
        losses.shown()
    ));
    verdict.check();
    tell(
        "verdict: nothing that was accepted is missing, nothing was done twice, and everything is in its order",
    );
}

/// Compares what was accepted with what is there.
async fn judge(node: &Node, sources: &Sources, receiver: &Receiver, sent: &Sent) -> Verdict {
    let events = node
        .events_until(&sources.inbox, |events| {
            verdict::has_all(&sent.ids, verdict::ids(&payloads(events)))
        })
        .await;
    let mut verdict = Verdict::default();
    let log = verdict::ids(&payloads(&events));
    verdict.once("the log", &sent.ids, &log);
    let last = log.last().copied();
    node.newest_until(&sources.listening, |newest| {
        newest
            .first()
            .and_then(|event| event["event"]["id"].as_u64())
            == last
    })
    .await;
    let heard = verdict::ids(&payloads(&node.events(&sources.listening).await));
    verdict.in_order("the source that listens", &log, &heard);
    let received = receiver
        .until(|all| verdict::has_all(&sent.ids, verdict::received(all)))
        .await;
    verdict.at_least_once("the webhook", &sent.ids, &verdict::received(&received));
    verdict.counted(&payloads(&node.events(&sources.ticks).await));
    verdict
}

async fn deploy(node: &Node, receiver: &Receiver) -> Sources {
    let inbox = node.deploy(INBOX, json!({})).await;
    let listening = node.deploy(LISTENING, json!({})).await;
    let ticks = json!({"timer": {"intervalSeconds": 1}});
    let ticks = node.deploy(COUNTING, ticks).await;
    let webhook = json!({"url": receiver.url(), "name": "all"});
    let webhook = node.post("/webhooks", webhook).await.is(200).data();
    for listener in [webhook["id"].as_str().unwrap(), &listening.id] {
        let subscription = json!({"emitter_id": inbox.id, "listener_id": listener});
        node.post("/subscriptions", subscription).await.is(200);
    }
    let trigger = format!("- type: events\n  emitter: {}\n", ticks.id);
    let resting = Folder::new(&trigger, &RESTING).deployed(node).await;
    Sources {
        inbox,
        listening,
        ticks,
        resting,
    }
}
