//! The comparison of what was accepted with what is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use headwater_integration::{Database, Received, Source};
use serde_json::Value;

/// More than a run of a node that was lost waits until it goes on elsewhere.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOKED_EVERY: Duration = Duration::from_millis(100);
/// The ids that `dedupe: "unique"` remembers.
const REMEMBERED: usize = 100;

/// Everything that is wrong.
#[derive(Default)]
pub(super) struct Verdict(Vec<String>);

impl Verdict {
    /// Everything that was sent is there, once. A request that is sent again because its answer was lost has the same id, which
    /// is told from another one as long as the source remembers it.
    pub(super) fn once(&mut self, place: &str, sent: &BTreeSet<u64>, found: &[u64]) {
        self.at_least_once(place, sent, found);
        let mut last = BTreeMap::new();
        for (at, id) in found.iter().enumerate() {
            if let Some(before) = last.insert(id, at)
                && at - before <= REMEMBERED
            {
                let apart = at - before;
                self.0.push(format!(
                    "request {id} is in {place} twice, {apart} events apart"
                ));
            }
        }
    }

    /// Everything that was sent is there, and nothing else.
    pub(super) fn at_least_once(&mut self, place: &str, sent: &BTreeSet<u64>, found: &[u64]) {
        let found: BTreeSet<u64> = found.iter().copied().collect();
        let missing = sent.difference(&found);
        self.0
            .extend(missing.map(|id| format!("request {id} was accepted and is not in {place}")));
        let unknown = found.difference(sent);
        self.0
            .extend(unknown.map(|id| format!("request {id} is in {place} and was never accepted")));
    }

    /// The same, in the same order.
    pub(super) fn in_order(&mut self, place: &str, log: &[u64], found: &[u64]) {
        let differs = (0..log.len().max(found.len())).find(|at| log.get(*at) != found.get(*at));
        if let Some(at) = differs {
            self.0.push(format!(
                "{place} has {:?} where the log has {:?}, after {at} events",
                found.get(at),
                log.get(at)
            ));
        }
    }

    /// Each tick has the number after the one before.
    pub(super) fn counted(&mut self, ticks: &[Value]) {
        let numbers: Vec<_> = { ticks.iter() }
            .filter_map(|tick| tick["n"].as_u64())
            .collect();
        assert!(!numbers.is_empty(), "no timer fired");
        let pairs = numbers.windows(2).filter(|pair| pair[1] != pair[0] + 1);
        self.0
            .extend(pairs.map(|pair| format!("tick {} is followed by {}", pair[0], pair[1])));
    }

    /// Each tick, from the first that the workflow passed on, was passed on by it exactly once.
    pub(super) async fn each_once(&mut self, database: &Database, ticks: &str, workflow: &str) {
        let numbers =
            "(event::json ->> 'n')::bigint AS n FROM events WHERE class = 0 AND emitter_id";
        let differs = format!(
            "WITH passed AS (SELECT count(*) AS times, {numbers} = '{workflow}' GROUP BY n),
                  emitted AS (SELECT {numbers} = '{ticks}')
             SELECT coalesce(string_agg(n || ': ' || coalesce(times, 0) || ' times', ', ' ORDER BY n), 'none')
             FROM emitted FULL JOIN passed USING (n)
             WHERE times IS DISTINCT FROM 1 AND n >= (SELECT min(n) FROM passed)
             HAVING count(*) > 0 OR NOT EXISTS (SELECT FROM passed)"
        );
        // The newest one may be on its way.
        let give_up_at = Instant::now() + PATIENCE;
        loop {
            let found = database.sql(&differs);
            if found.is_empty() {
                return;
            }
            if Instant::now() > give_up_at {
                let told = format!("ticks that the workflow passed on: {found}");
                return self.0.push(told);
            }
            tokio::time::sleep(LOOKED_EVERY).await;
        }
    }

    /// No run of a source that runs one after the other began before the one before had ended: by their own records.
    pub(super) fn by_one_node(&mut self, database: &Database, source: &Source) {
        let overlapping = format!(
            "SELECT coalesce(string_agg(id, ', '), '') FROM (
                 SELECT id, started_at_ms, lag(ended_at_ms) OVER (ORDER BY started_at_ms, ended_at_ms) AS before_ms
                 FROM runs WHERE runnable_id = '{}') AS run
             WHERE started_at_ms < before_ms",
            source.id
        );
        let overlapping = database.sql(&overlapping);
        if !overlapping.is_empty() {
            self.0
                .push(format!("runs that began during another: {overlapping}"));
        }
    }

    /// The number of things that are wrong.
    pub(super) fn wrong(&self) -> usize {
        self.0.len()
    }

    /// Fails if anything is wrong.
    pub(super) fn check(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

/// Whether all that was sent has come. Their number would not tell: some may have come twice, while others wait until the
/// lease of a node that was lost has expired.
pub(super) fn has_all(sent: &BTreeSet<u64>, found: Vec<u64>) -> bool {
    BTreeSet::from_iter(found).is_superset(sent)
}

/// The ids of what the inbox emitted.
pub(super) fn ids(events: &[Value]) -> Vec<u64> {
    let ids = events.iter().map(|event| event["id"].as_u64());
    ids.flatten().collect()
}

/// The ids of what a webhook received.
pub(super) fn received(received: &[Received]) -> Vec<u64> {
    let bodies: Vec<_> = received.iter().map(Received::json).collect();
    let events = bodies.iter().map(|body| match body.get("event") {
        Some(event) => event.clone(),
        None => body.clone(),
    });
    ids(&events.collect::<Vec<_>>())
}
