//! Turning what runs did into commits, in order: dedupe, `$in`, errors, logs, key-value writes.

use std::collections::{BTreeSet, HashMap};

use headwater_model::{
    channel::Channel,
    dedupe::{self, Dropped, Filtered, Strategy},
    error::Invalid,
    event::{Emit, NewEvent, Scheduled},
    id::InvocationId,
    outcome::{ComponentError, Outcome},
    time::EpochMs,
};
use headwater_store::{
    ChangedKeys, InvocationEnd, KvWrite, RunCommit, RunFacts, RunOutcome, RunVersion,
    RunnableLease, Source,
};

use serde_json::value::RawValue;

use super::{
    effects::{Effects, broken_rules},
    map_size::MapSize,
    part::RunPart,
    report,
};
use crate::metrics::Tally;

/// Places of committed writes that are remembered at least.
const WRITTEN_MAX: usize = 1024;

/// A commit and what to say about it.
pub(super) struct LedgerEntry {
    pub(super) commit: RunCommit,
    /// Ordinary and scheduled events in the commit.
    pub(super) emitted: u64,
    pub(super) tally: Tally,
    /// The run's outcome, with the calls that broke a rule taken into account.
    pub(super) outcome: Option<Outcome>,
}

/// The state of one source that every commit moves on.
pub(super) struct Ledger {
    lease: RunnableLease,
    state: Option<dedupe::State>,
    /// By key, the place of the last write that was committed.
    written: HashMap<String, u64>,
    /// So many are looked at for those that may be forgotten.
    written_max: usize,
    map_size: MapSize,
    /// Events of runs that have not ended, in parts that are committed.
    flushed: HashMap<InvocationId, Emitted>,
}

/// The events and writes of a run so far.
#[derive(Default)]
struct Emitted {
    events: u32,
    dropped: Dropped,
    has_scheduled: bool,
    /// The keys that it has changed.
    changed: BTreeSet<String>,
}

impl Emitted {
    /// Of one part.
    fn of(events: &[NewEvent], dropped: Dropped, writes: &[KvWrite]) -> Self {
        Self {
            events: u32::try_from(events.len()).unwrap_or(u32::MAX),
            dropped,
            has_scheduled: events.iter().any(|event| event.scheduled.is_some()),
            changed: writes.iter().map(|write| write.key.clone()).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.events == 0 && self.dropped.count == 0 && self.changed.is_empty()
    }

    fn add(&mut self, later: Self) {
        self.changed.extend(later.changed);
        self.events = self.events.saturating_add(later.events);
        self.dropped.add(later.dropped);
        self.has_scheduled |= later.has_scheduled;
    }
}

impl Ledger {
    /// Goes on from what the store has.
    pub(super) fn new(
        lease: RunnableLease,
        state: Option<dedupe::State>,
        map_size: MapSize,
    ) -> Self {
        Self {
            lease,
            flushed: HashMap::new(),
            state,
            written: HashMap::new(),
            written_max: WRITTEN_MAX,
            map_size,
        }
    }

    /// Goes on from the state that the store has now; what was written when still counts, because
    /// runs that wrote earlier may not have ended yet.
    pub(super) fn resume(&mut self, state: Option<dedupe::State>) {
        self.state = state;
    }

    /// Begins anew from the store's state after a refused commit. Runs that have not ended keep what they have committed.
    pub(super) fn restart(&mut self, lease: RunnableLease, state: Option<dedupe::State>) {
        self.lease = lease;
        self.state = state;
        self.written.clear();
    }

    /// Forgets the events of a run whose last part was refused.
    pub(super) fn forget(&mut self, run: &InvocationId) {
        self.flushed.remove(run);
    }

    /// Whether so many writes are remembered that some are to be forgotten.
    pub(super) fn has_many_writes(&self) -> bool {
        self.written.len() >= self.written_max
    }

    /// Forgets writes that came before `first`, the first that is still to be entered: none of those can be behind them.
    pub(super) fn forget_writes(&mut self, first: u64) {
        self.written.retain(|_, place| *place >= first);
        self.written_max = WRITTEN_MAX.max(2 * self.written.len());
    }

    /// The commit of a part, and the state after it.
    pub(super) fn enter(
        &mut self,
        source: &Source,
        part: &mut RunPart,
        now_ms: EpochMs,
    ) -> LedgerEntry {
        let effects = std::mem::take(&mut part.effects);
        let Effects {
            emits,
            kv,
            logs,
            mut rejected,
        } = effects;
        let (scheduled, emits): (Vec<_>, Vec<_>) = emits
            .into_iter()
            .partition(|emit| emit.options.delivery_ts.is_some());
        let filtered = self.dedupe(source.spec.dedupe, dedupe::order(emits));
        let dropped = filtered.dropped.count;
        rejected.extend(filtered.rejected);
        let kv_writes = self.writes(kv, &mut rejected);
        let mut events: Vec<NewEvent> = filtered
            .kept
            .into_iter()
            .map(|emit| appended(emit, part))
            .collect();
        events.extend(scheduled.into_iter().map(|emit| to_be_released(emit, part)));
        let emitted = events.len() as u64;
        let of_part = Emitted::of(&events, filtered.dropped, &kv_writes);
        let outcome = part
            .outcome
            .clone()
            .map(|outcome| with_rejections(outcome, &rejected));
        let error = match &outcome {
            // That it was cancelled is known to the one who did it.
            Some(Outcome::Cancelled { .. }) => None,
            Some(outcome) => outcome.error(),
            // The run goes on; what it has done wrong so far would be forgotten.
            None => broken_rules(&rejected),
        };
        events.extend(error.map(|error| report::error_event(source, part, &error, now_ms)));
        events.extend(logs.iter().map(|logged| report::log_event(part, logged)));
        part.effects.logs = logs;
        let tally = Tally::of(&events, dropped.into());
        let ended = self.ended(source, part, outcome.as_ref(), of_part);
        let commit = RunCommit {
            lease: self.lease.clone(),
            run_id: part.invocation_id.clone(),
            invocation: part.lease.clone().map(InvocationEnd::ended),
            events,
            dedupe: self.state.as_ref().filter(|_| emitted > 0).cloned(),
            kv_writes,
            usage: part.usage,
            progress: None,
            ended,
            unrecorded: part.unrecorded,
            now_ms,
        };
        LedgerEntry {
            commit,
            emitted,
            tally,
            outcome,
        }
    }

    /// The end of a run with its last part. Until then, its events are added up.
    fn ended(
        &mut self,
        source: &Source,
        part: &RunPart,
        outcome: Option<&Outcome>,
        of_part: Emitted,
    ) -> Option<headwater_store::EndedRun> {
        let mut so_far = self.flushed.remove(&part.invocation_id).unwrap_or_default();
        so_far.add(of_part);
        let Some(outcome) = outcome else {
            if !so_far.is_empty() {
                self.flushed.insert(part.invocation_id.clone(), so_far);
            }
            return None;
        };
        Some(headwater_store::EndedRun {
            version: RunVersion::Component(source.spec.component_id.clone()),
            trigger: part.trigger,
            replay_of: None,
            queued_at_ms: part.queued_at_ms,
            started_at_ms: part.started_at_ms,
            ended_at_ms: part.ended_at_ms,
            outcome: RunOutcome::from(outcome),
            error: match outcome {
                // In the words of a workflow's.
                Outcome::Cancelled { message } => Some(message.clone()),
                Outcome::Returned { .. }
                | Outcome::Threw { .. }
                | Outcome::LimitExceeded { .. }
                | Outcome::Lost { .. } => outcome.error().map(|error| error_text(&error)),
            },
            emitted: so_far.events,
            dropped: so_far.dropped,
            has_scheduled: so_far.has_scheduled,
            origin: part.origin.clone(),
            facts: RunFacts {
                starts: part.starts,
                response: part.response,
                changed: ChangedKeys::of(so_far.changed.iter().map(String::as_str)),
                time_limit_ms: part.time_limit_ms,
            },
        })
    }

    fn dedupe(&mut self, strategy: Option<Strategy>, emits: Vec<Emit>) -> Filtered {
        let Some(strategy) = strategy else {
            self.state = None;
            return Filtered {
                kept: emits,
                ..Filtered::default()
            };
        };
        let state = self
            .state
            .take()
            .filter(|state| state.strategy() == strategy);
        let state = self
            .state
            .insert(state.unwrap_or_else(|| dedupe::State::new(strategy)));
        dedupe::filter(state, emits)
    }

    /// The writes that no committed write of another run has overtaken: runs may end in another order
    /// than they wrote, and the last write of a key wins.
    fn writes(
        &mut self,
        kv: Vec<(u64, headwater_engine::KvChange)>,
        rejected: &mut Vec<Invalid>,
    ) -> Vec<KvWrite> {
        let mut writes = Vec::with_capacity(kv.len());
        for (place, change) in kv {
            let last = self.written.entry(change.key.clone()).or_insert(place);
            if *last <= place {
                let value = change.value.as_deref().map(RawValue::get);
                if let Err(invalid) = self.map_size.admit(&change.key, value) {
                    rejected.push(invalid);
                    continue;
                }
                *last = place;
                writes.push(KvWrite {
                    key: change.key,
                    value: change.value,
                });
            }
        }
        writes
    }
}

fn appended(emit: Emit, part: &RunPart) -> NewEvent {
    let options = emit.options;
    NewEvent {
        channel: options.name.unwrap_or_default(),
        event: emit.event,
        key: options.id,
        summary: options.summary,
        ts: options.ts,
        scheduled: None,
        hops: part.hops,
        trace: part.origin.trace,
    }
}

/// An event that waits on `$in`. It bypasses dedupe: the same id is emitted again when it is due.
fn to_be_released(emit: Emit, part: &RunPart) -> NewEvent {
    let deliver_at_ms = emit
        .options
        .delivery_ts
        .map_or(EpochMs(0), |ts| EpochMs(ts.max(0.0) as u64));
    let mut event = appended(emit, part);
    let channel = std::mem::replace(&mut event.channel, Channel::scheduled());
    event.scheduled = Some(Scheduled {
        deliver_at_ms,
        channel,
    });
    event
}

/// An error in one line: its class, unless that says nothing, and its text.
fn error_text(error: &ComponentError) -> String {
    match &*error.name {
        "" | "Error" => error.message.clone(),
        name => format!("{name}: {}", error.message),
    }
}

/// A run that returned although a call of it broke a rule has failed: nobody else would say so.
fn with_rejections(outcome: Outcome, rejected: &[Invalid]) -> Outcome {
    match (outcome, broken_rules(rejected)) {
        (Outcome::Returned { .. }, Some(error)) => Outcome::Threw { error },
        (outcome, _) => outcome,
    }
}

#[cfg(test)]
mod tests {
    use headwater_engine::KvChange;
    use headwater_model::id::SourceId;
    use headwater_store::NodeEpoch;

    use super::*;

    fn ledger() -> Ledger {
        let lease = RunnableLease {
            runnable: SourceId::new(EpochMs(1), 1).into(),
            epoch: NodeEpoch(1),
            fence: 1,
        };
        Ledger::new(lease, None, MapSize::default())
    }

    /// Enters a write of a key of its own in the place of that number. False: it was behind another one.
    fn write(ledger: &mut Ledger, key: u64, place: u64) -> bool {
        let change = KvChange {
            seq: place,
            key: key.to_string(),
            value: Some(RawValue::NULL.to_owned()),
        };
        let mut rejected = Vec::new();
        !ledger
            .writes(vec![(place, change)], &mut rejected)
            .is_empty()
    }

    #[test]
    fn no_more_writes_are_remembered_than_others_may_be_behind() {
        let mut ledger = ledger();
        for place in 0..100_000 {
            write(&mut ledger, place, place);
            if ledger.has_many_writes() {
                ledger.forget_writes(place - 10);
            }
        }
        assert!(ledger.written.len() <= WRITTEN_MAX);
        let last = 99_999;
        assert!(!write(&mut ledger, last, last - 1), "it came before");
        assert!(write(&mut ledger, last, last + 1));
    }

    #[test]
    fn a_write_is_remembered_as_long_as_another_one_may_be_behind_it() {
        let mut ledger = ledger();
        for place in 1..10_000 {
            write(&mut ledger, place, place);
            if ledger.has_many_writes() {
                // A run that wrote first of all has not ended.
                ledger.forget_writes(0);
            }
        }
        assert!((1..10_000).all(|key| !write(&mut ledger, key, 0)));
    }
}
