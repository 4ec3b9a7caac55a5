//! Turning what runs did into commits, in order: dedupe, `$in`, errors, logs, key-value writes.

use std::collections::HashMap;

use headwater_model::{
    channel::Channel,
    dedupe::{self, Dropped, Filtered, Strategy},
    error::Invalid,
    event::{Emit, NewEvent, Scheduled},
    id::InvocationId,
    outcome::{ComponentError, Outcome},
    time::EpochMs,
};
use headwater_store::{InvocationEnd, KvWrite, RunCommit, RunOutcome, RunnableLease, Source};

use serde_json::value::RawValue;

use super::{
    effects::{Effects, broken_rules},
    map_size::MapSize,
    part::RunPart,
    report,
};
use crate::metrics::Tally;

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
    map_size: MapSize,
    /// What runs in flight have emitted, and lost to dedupe, in parts that are committed.
    flushed: HashMap<InvocationId, Emitted>,
}

/// The events of a run so far.
#[derive(Default)]
struct Emitted {
    events: u32,
    dropped: Dropped,
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
            map_size,
        }
    }

    /// Goes on from the state that the store has now; what was written when still counts, because
    /// runs that wrote earlier may not have ended yet.
    pub(super) fn resume(&mut self, state: Option<dedupe::State>) {
        self.state = state;
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
        let dropped = filtered.dropped;
        rejected.extend(filtered.rejected);
        let kv_writes = self.writes(kv, &mut rejected);
        let mut events: Vec<NewEvent> = filtered
            .kept
            .into_iter()
            .map(|emit| appended(emit, part))
            .collect();
        events.extend(scheduled.into_iter().map(|emit| to_be_released(emit, part)));
        let emitted = events.len() as u64;
        let outcome = part
            .outcome
            .clone()
            .map(|outcome| with_rejections(outcome, &rejected));
        let error = match &outcome {
            Some(outcome) => outcome.error(),
            // The run goes on; what it has done wrong so far would be forgotten.
            None => broken_rules(&rejected),
        };
        events.extend(error.map(|error| report::error_event(source, part, &error, now_ms)));
        events.extend(logs.iter().map(|logged| report::log_event(part, logged)));
        part.effects.logs = logs;
        let tally = Tally::of(&events, dropped.count.into());
        let ended = self.ended(source, part, outcome.as_ref(), emitted, dropped);
        let commit = RunCommit {
            lease: self.lease.clone(),
            run_id: part.invocation_id.clone(),
            invocation: part.lease.clone().map(InvocationEnd::ended),
            events,
            dedupe: self.state.as_ref().filter(|_| emitted > 0).cloned(),
            kv_writes,
            usage: part.usage,
            ended,
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
        emitted: u64,
        dropped: Dropped,
    ) -> Option<headwater_store::EndedRun> {
        let mut so_far = self.flushed.remove(&part.invocation_id).unwrap_or_default();
        so_far.events += u32::try_from(emitted).unwrap_or(u32::MAX);
        so_far.dropped.add(dropped);
        let Some(outcome) = outcome else {
            self.flushed.insert(part.invocation_id.clone(), so_far);
            return None;
        };
        Some(headwater_store::EndedRun {
            version: source.spec.component_id.clone(),
            trigger: part.trigger,
            queued_at_ms: part.queued_at_ms,
            started_at_ms: part.started_at_ms,
            ended_at_ms: part.ended_at_ms,
            outcome: RunOutcome::from(outcome),
            error: outcome.error().map(|error| error_text(&error)),
            emitted: so_far.events,
            dropped: so_far.dropped,
            origin: part.origin.clone(),
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
