//! The soak: a node lives through hours of its clock in minutes, while it, its workers and its webhook's receiver
//! fail, its disk is full at times and another tenant misbehaves. Then nothing that was accepted is missing, and its
//! memory is flat.
//!
//! Here it is short and its seed is always the same; `cargo xtask soak --minutes 15` lets it last. Unlike every other
//! test it goes by the time: what happens when follows from the seed, where it happens does not.

mod disk;
mod havoc;
mod memory;
mod senders;
mod webhook;

use std::time::{Duration, Instant, SystemTime};

use headwater_integration::{Node, NodeBuilder, Source, tell};
use serde_json::{Value, json};

use self::{havoc::Havoc, memory::Memory, senders::Senders, webhook::Webhook};
use crate::crash::seed::Seed;

/// How fast the node's clock runs: eight hours in a quarter of an hour.
const SPEED: u32 = 32;
const MINUTES_VARIABLE: &str = "HEADWATER_SOAK_MINUTES";
const MINUTES: f64 = 0.5;
const SEED: u64 = 10;
/// The part of it in which the node is also killed and started again.
const WITH_RESTARTS: f64 = 0.7;
const SOURCES: usize = 3;
/// The disk of its own that the node gets, in MiB: so small that filling it takes little.
const DISK_MIB: u32 = 768;
/// Far more than anything takes once all is well again.
const SETTLED_WITHIN: Duration = Duration::from_secs(300);

const COUNTED: &str = r#"export default {
  name: "Counted", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body, { id: body.id }); },
};"#;
const TICKING: &str = r#"export default {
  name: "Ticking", version: "0.0.1", props: { timer: "$.interface.timer" },
  run(event) { this.$emit(event); },
};"#;
const TICK_S: u64 = 60;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_accepted_is_lost_and_memory_stays_flat() {
    let mut seed = Seed::fixed(SEED);
    let length = length();
    let webhook = Webhook::start().await;
    let (mut node, has_disk) = start().await;
    let begun = Instant::now();
    let mut sources = Vec::new();
    for _ in 0..SOURCES {
        sources.push(node.deploy(COUNTED, json!({})).await);
    }
    let interval = json!({"timer": {"intervalSeconds": TICK_S}});
    let ticking = node.deploy(TICKING, interval).await;
    webhook.subscribe(&node, &sources).await;
    let mut havoc = Havoc::new(&node, has_disk, &webhook).await;
    let senders = Senders::start(&sources);
    while begun.elapsed() < length.mul_f64(WITH_RESTARTS) {
        havoc.next(&mut seed, &mut node).await;
    }
    // Memory begins anew with every process, so that this one stays, whatever else goes on.
    let memory = Memory::watch(node.pid());
    let watched = Instant::now();
    while watched.elapsed() < length.mul_f64(1.0 - WITH_RESTARTS) {
        havoc.next_without_restart(&mut seed, &mut node).await;
    }
    let memory = memory.end().await;
    havoc.end();
    let sent = senders.end().await;

    let mut faults = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let answered = sent.of(number);
        let events = settled(&node, source, |ids| {
            answered.keys().all(|id| ids.contains(id))
        })
        .await;
        faults.extend(sent.faults(number, &events));
    }
    faults.extend(webhook.missing(&sent, SETTLED_WITHIN).await);
    let ticks = node.events(&ticking).await;
    faults.extend(doubled_ticks(&ticks));
    faults.extend(memory.fault());
    let lived = begun.elapsed() * SPEED;
    tell(&format!(
        "soak: {:.1} hours of the node's clock in {:.1} minutes; {}; {} ticks; {}; {}",
        lived.as_secs_f64() / 3600.0,
        begun.elapsed().as_secs_f64() / 60.0,
        sent.shown(),
        ticks.len(),
        havoc.shown(),
        memory.shown()
    ));
    assert!(!ticks.is_empty(), "no timer fired");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn length() -> Duration {
    let given = std::env::var(MINUTES_VARIABLE).ok();
    let minutes = given.map_or(MINUTES, |text| text.parse().expect("minutes are a number"));
    Duration::from_secs_f64(minutes * 60.0)
}

/// The node, and whether its disk is its own. Only root can give it one.
async fn start() -> (Node, bool) {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let clock = format!("{SPEED}@{}", since.as_millis());
    if let Some(builder) = settings(&clock).small_disk(DISK_MIB) {
        return (builder.start().await, true);
    }
    tell("soak: no disk can be mounted here, so none gets full");
    (settings(&clock).start().await, false)
}

fn settings(clock: &str) -> NodeBuilder {
    Node::builder()
        .own_address()
        .env("HEADWATER_TEST_CLOCK", clock)
        .flag("--allow-private-network")
        .flag("--retained-events=1000000")
        .flag("--shutdown-grace=3s")
        .flag("--run-timeout=20s")
        // Of the node's clock; longer in all than anything is out of order.
        .flag(&format!("--webhook-backoff={}", ["30s"; 400].join(",")))
}

/// A source's events once all of what is wanted has come, or nothing more comes for long.
async fn settled(
    node: &Node,
    source: &Source,
    wanted: impl Fn(&std::collections::BTreeSet<u64>) -> bool,
) -> Vec<u64> {
    let until = Instant::now() + SETTLED_WITHIN;
    loop {
        let events = node.events(source).await;
        let ids: Vec<u64> = events
            .iter()
            .map(|event| event["event"]["id"].as_u64().unwrap())
            .collect();
        if wanted(&ids.iter().copied().collect()) || Instant::now() > until {
            return ids;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// A tick is one event, however often its node died of it.
fn doubled_ticks(ticks: &[Value]) -> Option<String> {
    let mut times: Vec<u64> = ticks
        .iter()
        .map(|tick| tick["event"]["timestamp"].as_u64().unwrap())
        .collect();
    let count = times.len();
    times.sort_unstable();
    times.dedup();
    (times.len() < count).then(|| format!("{} ticks came twice", count - times.len()))
}
