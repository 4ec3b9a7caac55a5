//! A source whose runs can be told from each other afterwards, and what must hold of them whatever
//! happened.
//!
//! Every run moves a counter on in the key-value store and says its count in an event and in a line
//! of its log. Lines of the log are not deduplicated, so they are the record of all committed runs.

use std::collections::BTreeMap;

use headwater_integration::{Node, Source};
use serde_json::{Value, json};

use super::clients::Sent;

const CODE: &str = r#"
export default {
  name: "Counting",
  version: "0.0.1",
  DEDUPE
  props: { http: "$.interface.http", db: "$.service.db" },
  run({ body, reads }) {
    if (reads) return this.db.get("count");
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    console.log(JSON.stringify({ id: body.id, count }));
    this.$emit({ id: body.id, count }, { id: body.id });
  },
};
"#;

/// The component, with dedupe `unique` or without.
pub(super) fn counting(is_unique: bool) -> String {
    CODE.replace("DEDUPE", if is_unique { "dedupe: \"unique\"," } else { "" })
}

/// A run, or an event of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) id: usize,
    pub(super) count: usize,
}

impl Counted {
    fn parse(value: &Value) -> Self {
        let number = |name: &str| usize::try_from(value[name].as_u64().unwrap()).unwrap();
        Self {
            id: number("id"),
            count: number("count"),
        }
    }
}

/// Everything a counting source has left behind.
pub(super) struct Record {
    /// Committed runs in the order of their commits.
    pub(super) runs: Vec<Counted>,
    /// Its events, oldest first.
    pub(super) events: Vec<Counted>,
    counter: usize,
}

impl Record {
    /// Reads it, when nothing is queued any more, and checks what holds for any such source.
    pub(super) async fn read(node: &Node, source: &Source) -> Self {
        assert_eq!(node.channel(source, "$errors").await, [Value::Null; 0]);
        let report = node.run(source, json!({"reads": true})).await;
        let counter = &report["outcome"]["value"];
        let counter = counter
            .as_u64()
            .unwrap_or_else(|| panic!("no counter: {report}"));
        let (events, logs) = (
            node.events(source).await,
            node.channel(source, "$logs").await,
        );
        ids_increase(&events);
        ids_increase(&logs);
        let record = Self {
            runs: logs
                .iter()
                .map(|line| Counted::parse(&message_of(line)))
                .collect(),
            events: events
                .iter()
                .map(|event| Counted::parse(&event["event"]))
                .collect(),
            counter: usize::try_from(counter).unwrap(),
        };
        record.check_counts();
        record
    }

    /// Every committed run moved the counter on by one from where the one before had left it.
    fn check_counts(&self) {
        let counts: Vec<_> = self.runs.iter().map(|run| run.count).collect();
        let expected: Vec<_> = (1..=self.runs.len()).collect();
        assert_eq!(
            counts, expected,
            "counts of the runs, in the order of their commits"
        );
        assert_eq!(
            self.counter,
            self.runs.len(),
            "the counter, and the committed runs"
        );
    }

    /// Every answered request has run, and none ran more often than it was sent.
    pub(super) fn check_runs(&self, tally: &BTreeMap<usize, Sent>) {
        for (id, sent) in tally {
            let runs = self.runs.iter().filter(|run| run.id == *id).count();
            assert!(
                runs >= usize::from(sent.answered),
                "{id} was answered and has not run"
            );
            assert!(runs <= sent.attempts, "{id} ran {runs} times: {sent:?}");
        }
        let unknown = self.runs.iter().find(|run| !tally.contains_key(&run.id));
        assert_eq!(unknown, None, "nobody sent it");
    }

    /// Every id that ran was emitted by its first run, and by no other.
    pub(super) fn check_unique(&self) {
        let mut seen = std::collections::BTreeSet::new();
        let first: Vec<_> = self
            .runs
            .iter()
            .filter(|run| seen.insert(run.id))
            .copied()
            .collect();
        assert_eq!(
            self.events, first,
            "the events, and the first run of each id"
        );
    }
}

fn message_of(line: &Value) -> Value {
    let message = line["event"]["message"].as_str().unwrap();
    serde_json::from_str(message).unwrap_or_else(|error| panic!("{error}: {message}"))
}

/// Event ids increase strictly, as numbers.
pub(super) fn ids_increase(events: &[Value]) {
    let ids: Vec<(u64, u64)> = events
        .iter()
        .map(|event| {
            let (ms, sequence) = event["id"].as_str().unwrap().split_once('-').unwrap();
            (ms.parse().unwrap(), sequence.parse().unwrap())
        })
        .collect();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] >= pair[1]) {
        panic!("event ids do not increase: {pair:?}");
    }
}

/// Waits until everything that was answered has been emitted, and what was queued before has run.
pub(super) async fn settle(
    node: &Node,
    source: &Source,
    clients: &super::clients::Clients,
    unused: usize,
) {
    // A request that is sent when an earlier one has been emitted runs after whatever that one waited for.
    for id in unused..unused + 3 {
        clients.send_one(id).await;
        node.events_until(source, |events| {
            events.iter().any(|event| event["event"]["id"] == id)
        })
        .await;
    }
    let answered = clients.tally().len();
    node.events_until(source, |events| {
        let mut ids: Vec<_> = events
            .iter()
            .map(|event| event["event"]["id"].as_u64())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len() >= answered
    })
    .await;
}
