//! Committing the results of one source's runs, in the order in which they ended.
//!
//! One batch is in flight at a time; runs that end meanwhile form the next batch. So order holds
//! without waiting for each commit, and a busy source shares its durable writes.

use std::{sync::Arc, time::Instant};

use headwater_model::{dedupe, id::SourceId, outcome::Outcome, time::EpochMs};
use headwater_store::{Conflict, RunCommit, RunnableLease, Source, Store, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    invocation::CustomResponse,
    journal,
    ledger::{Ledger, LedgerEntry},
    loaded::MapState,
    map_size::MapSize,
    part::{After, RunPart},
    report,
};
use crate::{
    actor::{Batches, store_returns},
    core::Core,
    metrics::{Metrics, Tally},
};

/// Parts that may wait for the store while runs go on starting: a custom response needs nothing of it.
const PARTS_MAX: usize = 4096;

/// A part whose commit is in flight.
struct PartInFlight {
    part: RunPart,
    emitted: u64,
    tally: Tally,
    outcome: Option<Outcome>,
}

/// A batch that the store has answered.
pub(super) struct Batch {
    entered: Vec<PartInFlight>,
    results: Vec<Result<(), StoreError>>,
}

impl Batch {
    /// Whether it appends events, which others wait for.
    pub(super) fn has_events(&self) -> bool {
        self.entered.iter().any(|it| it.tally.has_events())
    }
}

/// The commits of one source.
pub(super) struct Commits {
    source_id: SourceId,
    core: Arc<Core>,
    /// Unknown until the runner has the source's lease.
    ledger: Option<Ledger>,
    map_size: MapSize,
    batches: Batches<RunPart, Batch>,
    /// Counts the results that the store does not have yet.
    uncommitted: watch::Sender<usize>,
}

impl Commits {
    /// The commits of a source that is not opened yet.
    pub(super) fn new(core: Arc<Core>, source_id: SourceId) -> Self {
        let map_size = MapSize::default();
        Self {
            source_id,
            core,
            ledger: None,
            map_size,
            batches: Batches::default(),
            uncommitted: watch::Sender::new(0),
        }
    }

    /// The key-value map, for a worker that loads it.
    pub(super) fn map_state(&self) -> MapState {
        MapState {
            uncommitted: self.uncommitted.subscribe(),
            size: self.map_size.clone(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.batches.is_idle()
    }

    /// Takes a part of a run, to be committed.
    pub(super) fn push(&mut self, part: RunPart) {
        self.batches.push(part);
        self.uncommitted.send_modify(|count| *count += 1);
    }

    /// Starts the next batch if none is in flight.
    pub(super) fn start(&mut self, source: &Source, now_ms: EpochMs) {
        let Self {
            core,
            source_id,
            ledger,
            ..
        } = self;
        let Some(ledger) = ledger else {
            return;
        };
        self.batches.start(|parts| {
            let mut commits = Vec::with_capacity(parts.len());
            let mut entered = Vec::with_capacity(parts.len());
            for mut part in parts {
                let LedgerEntry {
                    commit,
                    emitted,
                    tally,
                    outcome,
                } = ledger.enter(source, &mut part, now_ms);
                conclude(&core.metrics, source_id, &part, outcome.as_ref());
                commits.push(commit);
                entered.push(PartInFlight {
                    part,
                    emitted,
                    tally,
                    outcome,
                });
            }
            let core = Arc::clone(core);
            async move {
                let begun = Instant::now();
                let results = commit(&*core.store, commits, &core.stopping).await;
                core.metrics.answered(begun.elapsed());
                Batch { entered, results }
            }
        });
    }

    /// Waits for the batch in flight; forever if there is none.
    pub(super) async fn next(&mut self) -> Batch {
        self.batches.written().await
    }

    /// Whether so many parts wait for the store that no more runs may start.
    pub(super) fn is_behind(&self) -> bool {
        *self.uncommitted.borrow() > PARTS_MAX
    }

    /// Answers all that waited for the batch. True if all of it was committed.
    pub(super) fn finish(&mut self, batch: Batch) -> bool {
        self.uncommitted
            .send_modify(|count| *count -= batch.entered.len());
        let mut committed = true;
        for (
            PartInFlight {
                part,
                emitted,
                tally,
                outcome,
            },
            result,
        ) in batch.entered.into_iter().zip(batch.results)
        {
            if let Err(error) = result {
                journal::refused(&self.source_id, &part, &error);
                self.core.metrics.refused();
                committed = false;
                continue;
            }
            self.core.metrics.committed(&tally);
            answer(part, emitted, outcome);
        }
        committed
    }

    /// The commits of held hooks, for a settlement, and their counts once that is written. Nothing else
    /// may be in flight.
    pub(super) fn enter_held(
        &mut self,
        source: &Source,
        held: Vec<RunPart>,
        now_ms: EpochMs,
    ) -> (Vec<RunCommit>, Vec<Tally>) {
        let ledger = self
            .ledger
            .as_mut()
            .expect("the lease comes before the first command");
        held.into_iter()
            .map(|mut part| {
                let entry = ledger.enter(source, &mut part, now_ms);
                (entry.commit, entry.tally)
            })
            .unzip()
    }

    /// Goes on from the state that a settlement has left, perhaps under another strategy.
    pub(super) fn resume(&mut self, state: Option<dedupe::State>) {
        if let Some(ledger) = &mut self.ledger {
            ledger.resume(state);
        }
    }

    /// Begins with the store's state: at first, and after a refused commit.
    pub(super) fn reset(&mut self, lease: RunnableLease, state: Option<dedupe::State>) {
        // The worker goes too, and the next begins with the store's state.
        self.ledger = Some(Ledger::new(lease, state, self.map_size.clone()));
    }
}

/// Commits; as long as the store is unavailable, tries again, because the runs have happened.
async fn commit(
    store: &dyn Store,
    commits: Vec<RunCommit>,
    stopping: &CancellationToken,
) -> Vec<Result<(), StoreError>> {
    let mut results = Vec::with_capacity(commits.len());
    let mut commits: Arc<[RunCommit]> = commits.into();
    loop {
        let step = store.commit_runs(Arc::clone(&commits)).await;
        let settled = step
            .iter()
            .take_while(|result| !matches!(result, Err(StoreError::Unavailable { .. })))
            .count();
        let mut step = step;
        let unavailable = step.split_off(settled);
        results.extend(step);
        commits = commits[settled..].into();
        // Later commits count the results that a refused one did not leave behind: only those tried
        // together with it are told apart.
        if results.iter().any(Result::is_err) {
            let behind = || Err(Conflict::Behind.into());
            results.extend(commits.iter().map(|_| behind()));
            return results;
        }
        match unavailable.into_iter().next() {
            None => return results,
            Some(Err(error)) => tracing::error!(%error, "a commit waits for the store"),
            Some(Ok(())) => {}
        }
        if !store_returns(stopping).await {
            let gone = || {
                Err(StoreError::unavailable(
                    "committing runs",
                    "the node is stopping",
                ))
            };
            results.extend(commits.iter().map(|_| gone()));
            return results;
        }
    }
}

/// Reports a run's end to watchers of the node, if this part is the last. Hooks are reported elsewhere.
fn conclude(metrics: &Metrics, id: &SourceId, part: &RunPart, outcome: Option<&Outcome>) {
    if let Some(outcome) = outcome
        && part.trigger.of_invocation().is_some()
    {
        metrics.ran(part.trigger, outcome);
        journal::ended(id, part, outcome);
    }
}

fn answer(mut part: RunPart, emitted: u64, outcome: Option<Outcome>) {
    match std::mem::replace(&mut part.after, After::Nothing) {
        After::Nothing => {}
        After::Respond(response, answer) => drop(response.send(CustomResponse::Responded(answer))),
        After::Report(sender) => {
            if let Some(outcome) = outcome {
                let _ = sender.send(report::report(&part, outcome, emitted));
            }
        }
    }
}
