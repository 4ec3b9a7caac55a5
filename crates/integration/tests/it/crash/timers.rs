//! A timer whose node is killed: each tick that began is run to its end, once.

use std::collections::BTreeSet;

use headwater_integration::{Node, Receiver, payloads};
use serde_json::{Value, json};

use super::{counted::ids_increase, seed::Seed};

/// Says where a run is before it goes on.
const TICKING: &str = r#"
export default {
  name: "Ticking",
  version: "0.0.1",
  props: { timer: "$.interface.timer", db: "$.service.db", url: "string" },
  methods: {
    async reach(place, tick) {
      await fetch(`${this.url}/${place}/${tick}`, { method: "POST" });
    },
  },
  async run({ timestamp, reads }) {
    if (reads) {
      this.$emit({ reads, count: this.db.get("count") });
      return;
    }
    await this.reach("begun", timestamp);
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    await this.reach("counted", timestamp);
    this.$emit({ count, timestamp });
    await this.reach("emitted", timestamp);
  },
};
"#;

/// Where a node is killed: in a run, or when one has been committed.
const PLACES: [&str; 4] = ["/begun/", "/counted/", "/emitted/", "committed"];

#[tokio::test(flavor = "multi_thread")]
async fn a_counter_and_its_events_agree_and_no_begun_tick_is_lost() {
    const KILLS: usize = 6;
    let mut seed = Seed::new();
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;
    let places = Receiver::start().await;
    let props = json!({"timer": {"intervalSeconds": 1}, "url": places.url()});
    let source = node.deploy(TICKING, props).await;
    for _ in 0..KILLS {
        let before = node.events(&source).await.len();
        match seed.one_of(&PLACES) {
            "committed" => {
                node.events_until(&source, |events| events.len() > before)
                    .await;
            }
            place => {
                let reached = places.received().len();
                places
                    .until(|received| {
                        received[reached..]
                            .iter()
                            .any(|at| at.path.starts_with(place))
                    })
                    .await;
            }
        }
        node.kill_9();
        node.restart().await;
        node.events_until(&source, |events| events.len() > before)
            .await;
    }
    let begun: BTreeSet<u64> = places
        .received()
        .iter()
        .map(|at| tick_of(&at.path))
        .collect();
    let last_begun = *begun.last().unwrap();
    node.events_until(&source, |events| {
        events
            .iter()
            .any(|event| event["event"]["timestamp"].as_u64() >= Some(last_begun))
    })
    .await;
    node.run(&source, json!({"reads": true})).await;
    assert_eq!(node.channel(&source, "$errors").await, [Value::Null; 0]);
    let events = node.events(&source).await;
    ids_increase(&events);
    check(&payloads(&events), &begun);
}

/// Checks what was emitted up to the run that read the counter.
fn check(events: &[Value], begun: &BTreeSet<u64>) {
    let is_read = |event: &Value| event["reads"] == true;
    let read_at = events.iter().position(is_read).unwrap();
    let numbers = |name: &str| -> Vec<u64> {
        let values = events[..read_at].iter().map(|event| &event[name]);
        values.map(|value| value.as_u64().unwrap()).collect()
    };
    let (counts, ticks) = (numbers("count"), numbers("timestamp"));
    let expected: Vec<_> = (1..).take(read_at).collect();
    assert_eq!(counts, expected);
    let counter = events[read_at]["count"].as_u64();
    assert_eq!(
        counter,
        counts.last().copied(),
        "the counter and the last event"
    );
    assert!(
        ticks.windows(2).all(|pair| pair[0] < pair[1]),
        "each tick once, in order: {ticks:?}"
    );
    let lost: Vec<_> = begun.iter().filter(|tick| !ticks.contains(tick)).collect();
    assert!(
        lost.is_empty(),
        "ticks {lost:?} began and were not emitted: {ticks:?}"
    );
}

fn tick_of(path: &str) -> u64 {
    path.rsplit('/').next().unwrap().parse().unwrap()
}
