//! Committing the results of one source's runs, in the order in which they ended; quiet ones, on which nothing
//! depends, come later.
//!
//! One batch is in flight at a time; runs that end meanwhile form the next batch. So order holds
//! without waiting for each commit, and a busy source shares its durable writes.

use std::{sync::Arc, time::Instant};

use headwater_model::{dedupe, id::SourceId, outcome::Outcome, time::EpochMs};
use headwater_store::{Conflict, Lease, RunCommit, RunnableLease, Source, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    invocation::CustomResponse,
    journal,
    ledger::{Ledger, LedgerEntry},
    loaded::MapState,
    map_size::MapSize,
    part::{After, RunPart},
    quiet_runs::QuietRuns,
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

    /// Whether it appends events that are to be released later.
    pub(super) fn has_scheduled(&self) -> bool {
        self.entered.iter().any(|it| it.tally.has_scheduled())
    }
}

/// The commits of one source.
pub(super) struct Commits {
    source_id: SourceId,
    core: Arc<Core>,
    /// Unknown until the runner has the source's lease.
    ledger: Option<Ledger>,
    map_size: MapSize,
    quiet_runs: QuietRuns,
    batches: Batches<RunPart, Batch>,
    /// Those of the batch in flight.
    in_flight: Option<Arc<[RunCommit]>>,
    /// Counts the results that wait for their commit; quiet runs are among them once they are due.
    uncommitted: watch::Sender<usize>,
}

impl Commits {
    /// The commits of a source that is not opened yet.
    pub(super) fn new(core: Arc<Core>, source_id: SourceId) -> Self {
        let map_size = MapSize::default();
        Self {
            quiet_runs: QuietRuns::new(core.config.retained_runs),
            source_id,
            core,
            ledger: None,
            map_size,
            batches: Batches::default(),
            in_flight: None,
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
        self.batches.is_idle() && self.quiet_runs.is_empty()
    }

    /// Leaves no quiet run waiting for others.
    pub(super) fn hurry(&mut self) {
        self.quiet_runs.hurry();
    }

    /// The leases of the invocations that end with parts of which the store has nothing yet.
    pub(super) fn leases(&self) -> impl Iterator<Item = Lease> {
        let in_flight = self.in_flight.iter().flat_map(|commits| commits.iter());
        let in_flight = in_flight.filter_map(|commit| commit.invocation.as_ref());
        let waiting = self.batches.waiting();
        let waiting = waiting.filter_map(|part| part.lease.clone());
        in_flight.map(|end| end.lease.clone()).chain(waiting)
    }

    /// Takes a part of a run, to be committed.
    pub(super) fn push(&mut self, mut part: RunPart) {
        match part.is_quiet() {
            true => {
                let metrics = &self.core.metrics;
                conclude(metrics, &self.source_id, &part, part.outcome.as_ref());
                part.is_concluded = true;
                self.quiet_runs.push(part);
            }
            false => {
                // A caller that has a report finds the runs that ended before it.
                if matches!(part.after, After::Report(_)) {
                    self.quiet_runs.hurry();
                    self.await_quiet_runs();
                }
                self.await_commit(part);
            }
        }
    }

    fn await_quiet_runs(&mut self) {
        let due = self.quiet_runs.take_due();
        due.into_iter().for_each(|part| self.await_commit(part));
    }

    fn await_commit(&mut self, part: RunPart) {
        self.batches.push(part);
        self.uncommitted.send_modify(|count| *count += 1);
    }

    /// Starts the next batch if none is in flight.
    pub(super) fn start(&mut self, source: &Source, now_ms: EpochMs) {
        if self.ledger.is_some() && !self.batches.is_writing() {
            self.await_quiet_runs();
        }
        let Self {
            core,
            source_id,
            ledger,
            in_flight,
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
                if !part.is_concluded {
                    conclude(&core.metrics, source_id, &part, outcome.as_ref());
                }
                commits.push(commit);
                entered.push(PartInFlight {
                    part,
                    emitted,
                    tally,
                    outcome,
                });
            }
            leave_out_records(&mut commits, false, core.config.retained_runs);
            leave_out_records(&mut commits, true, core.config.retained_failed_runs);
            let commits: Arc<[RunCommit]> = commits.into();
            *in_flight = Some(Arc::clone(&commits));
            let core = Arc::clone(core);
            async move {
                let begun = Instant::now();
                let write = |commits| core.store.commit_runs(commits);
                let results = commit(write, commits, &core.stopping).await;
                core.metrics.answered(begun.elapsed());
                Batch { entered, results }
            }
        });
    }

    /// Forgets the places of committed writes once there are many, but for those that a write may still be behind:
    /// `uncommitted` is the place of the first one that has not been pushed.
    pub(super) fn forget_writes(&mut self, uncommitted: impl FnOnce() -> u64) {
        let Some(ledger) = self.ledger.as_mut().filter(|it| it.has_many_writes()) else {
            return;
        };
        let waiting = self.batches.waiting();
        let waiting = waiting.filter_map(|part| part.effects.first_write());
        let first = waiting.chain([uncommitted()]).min();
        ledger.forget_writes(first.unwrap_or_default());
    }

    /// Waits for the batch in flight or, if there is none, until quiet runs are due; forever if there are none.
    pub(super) async fn next(&mut self) -> Option<Batch> {
        if self.batches.is_writing() {
            return Some(self.batches.written().await);
        }
        self.quiet_runs.due().await;
        None
    }

    /// Whether so many parts wait for the store that no more runs may start.
    pub(super) fn is_behind(&self) -> bool {
        *self.uncommitted.borrow() + self.quiet_runs.len() > PARTS_MAX
    }

    /// Answers all that waited for the batch.
    ///
    /// # Errors
    /// The store refused a part; with the leases of invocations that nobody has any more.
    pub(super) fn finish(&mut self, batch: Batch) -> Result<(), Vec<Lease>> {
        self.in_flight = None;
        self.uncommitted
            .send_modify(|count| *count -= batch.entered.len());
        let mut refused: Option<Vec<Lease>> = None;
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
                if let Some(ledger) = &mut self.ledger {
                    ledger.forget(&part.invocation_id);
                }
                let abandoned = refused.get_or_insert_default();
                if matches!(error, StoreError::Conflict(Conflict::Behind)) {
                    abandoned.extend(part.lease);
                }
                continue;
            }
            self.core.metrics.committed(&tally);
            answer(part, emitted, outcome);
        }
        refused.map_or(Ok(()), Err)
    }

    /// The commits of hooks with deferred effects, for a settlement, and their counts once that is written.
    /// No other commit may be in flight.
    pub(super) fn enter_deferred(
        &mut self,
        source: &Source,
        deferred: &mut [RunPart],
        now_ms: EpochMs,
    ) -> (Vec<RunCommit>, Vec<Tally>) {
        let ledger = self
            .ledger
            .as_mut()
            .expect("the lease comes before the first command");
        deferred
            .iter_mut()
            .map(|part| {
                let entry = ledger.enter(source, part, now_ms);
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
        match &mut self.ledger {
            Some(ledger) => ledger.restart(lease, state),
            None => self.ledger = Some(Ledger::new(lease, state, self.map_size.clone())),
        }
    }
}

/// Commits; as long as the store is unavailable, tries again, because the runs have happened.
async fn commit<W>(
    write: impl Fn(Arc<[RunCommit]>) -> W,
    commits: Arc<[RunCommit]>,
    stopping: &CancellationToken,
) -> Vec<Result<(), StoreError>>
where
    W: Future<Output = Vec<Result<(), StoreError>>>,
{
    let mut results = write(Arc::clone(&commits)).await;
    loop {
        refuse_behind(&commits, &mut results);
        let waiting: Vec<usize> = (0..results.len())
            .filter(|place| matches!(results[*place], Err(StoreError::Unavailable { .. })))
            .collect();
        let Some(Err(error)) = waiting.first().map(|place| &results[*place]) else {
            return results;
        };
        tracing::error!(%error, "a commit waits for the store");
        if !store_returns(stopping).await {
            return results;
        }
        let again: Vec<RunCommit> = waiting
            .iter()
            .map(|place| commits[*place].clone())
            .collect();
        for (place, result) in waiting.into_iter().zip(write(again.into()).await) {
            results[place] = result;
        }
    }
}

/// Refuses, of those that are to be tried again, the ones that count results which a refused one did not leave behind:
/// only of those tried together can the store tell.
fn refuse_behind(commits: &[RunCommit], results: &mut [Result<(), StoreError>]) {
    let mut is_behind = false;
    let with_state = commits
        .iter()
        .zip(results)
        .filter(|it| it.0.dedupe.is_some());
    for (_, result) in with_state {
        match result {
            Ok(()) => {}
            Err(StoreError::Unavailable { .. }) if !is_behind => {}
            Err(StoreError::Unavailable { .. }) => *result = Err(Conflict::Behind.into()),
            Err(StoreError::Conflict(_) | StoreError::Corrupt(_) | StoreError::Unsupported(_)) => {
                is_behind = true
            }
        }
    }
}

/// Leaves out the records that retention would delete at once: of a batch's runs that failed, or of those that
/// returned, the oldest.
fn leave_out_records(commits: &mut [RunCommit], have_failed: bool, keep: u32) {
    let is_of_kind = |commit: &&mut RunCommit| {
        let ended = commit.ended.as_ref();
        ended.is_some_and(|ended| ended.outcome.is_failure() == have_failed)
    };
    let mut ended: Vec<&mut RunCommit> = commits.iter_mut().filter(is_of_kind).collect();
    let beyond = ended.len().saturating_sub(keep as usize);
    if beyond > 0 {
        ended.sort_unstable_by(|one, other| one.run_id.cmp(&other.run_id));
        let left_out = ended.into_iter().take(beyond);
        left_out.for_each(|commit| commit.ended = None);
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
        After::Cancelled(told, report) => {
            if let Some((report, outcome)) = report.zip(outcome) {
                let _ = report.send(report::report(&part, outcome, emitted));
            }
            let _ = told.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use headwater_model::{
        dedupe::Strategy,
        id::{ComponentId, InvocationId, SourceId},
        origin::Origin,
    };
    use headwater_store::{
        Dropped, EndedRun, NodeEpoch, RunFacts, RunOutcome, RunTrigger, RunVersion, Usage,
    };
    use parking_lot::Mutex;

    use super::*;

    fn of_run(number: u64, has_state: bool) -> RunCommit {
        RunCommit {
            lease: RunnableLease {
                runnable: SourceId::new(EpochMs(1), 1).into(),
                epoch: NodeEpoch(1),
                fence: 1,
            },
            run_id: InvocationId::new(EpochMs(number), 1),
            invocation: None,
            events: Vec::new(),
            dedupe: has_state.then(|| dedupe::State::new(Strategy::Unique)),
            kv_writes: Vec::new(),
            usage: Usage::default(),
            progress: None,
            ended: None,
            unrecorded: 0,
            now_ms: EpochMs(1),
        }
    }

    fn ended_with(number: u64, outcome: RunOutcome) -> RunCommit {
        RunCommit {
            ended: Some(EndedRun {
                version: RunVersion::Component(ComponentId::new(EpochMs(1), 1)),
                trigger: RunTrigger::Http,
                replay_of: None,
                queued_at_ms: EpochMs(1),
                started_at_ms: EpochMs(1),
                ended_at_ms: EpochMs(1),
                outcome,
                error: None,
                emitted: 0,
                dropped: Dropped::default(),
                has_scheduled: false,
                origin: Origin::default(),
                facts: RunFacts::default(),
            }),
            ..of_run(number, false)
        }
    }

    #[test]
    fn of_a_batch_only_the_records_that_retention_keeps_are_written() {
        let mut commits = vec![
            ended_with(3, RunOutcome::Returned),
            ended_with(1, RunOutcome::Threw),
            ended_with(2, RunOutcome::Returned),
            of_run(4, false),
            ended_with(5, RunOutcome::Returned),
        ];
        leave_out_records(&mut commits, false, 2);
        leave_out_records(&mut commits, true, 1);
        let recorded: Vec<bool> = commits
            .iter()
            .map(|commit| commit.ended.is_some())
            .collect();
        assert_eq!(recorded, [true, true, false, false, true]);
        leave_out_records(&mut commits, true, 0);
        assert!(commits[1].ended.is_none());
    }

    fn away() -> Result<(), StoreError> {
        Err(StoreError::unavailable("testing", "the disk is away"))
    }

    /// Commits runs with or without a dedupe state at a store that answers so; with the runs of each attempt.
    async fn committed(
        have_state: [bool; 4],
        answers: Vec<Vec<Result<(), StoreError>>>,
    ) -> (Vec<Vec<u64>>, Vec<Result<(), StoreError>>) {
        let commits: Vec<_> = (0..4)
            .zip(have_state)
            .map(|(number, it)| of_run(number, it))
            .collect();
        let tried = Mutex::new(Vec::new());
        let answers = Mutex::new(VecDeque::from(answers));
        let write = |commits: Arc<[RunCommit]>| {
            let ids = commits.iter().map(|commit| commit.run_id.clone());
            tried.lock().push(ids.collect::<Vec<_>>());
            std::future::ready(answers.lock().pop_front().unwrap_or_default())
        };
        let numbers: Vec<_> = commits.iter().map(|commit| commit.run_id.clone()).collect();
        let number = |id| numbers.iter().position(|one| *one == id).unwrap_or(9) as u64;
        let results = commit(write, commits.into(), &CancellationToken::new()).await;
        let tried = tried.into_inner().into_iter();
        (
            tried
                .map(|ids| ids.into_iter().map(number).collect())
                .collect(),
            results,
        )
    }

    #[tokio::test(start_paused = true)]
    async fn what_waited_behind_a_refused_state_is_tried_again_unless_it_has_one() {
        let refused = || Err(Conflict::LeaseLost.into());
        let (tried, results) = committed(
            [true, false, true, false],
            vec![
                vec![refused(), away(), away(), away()],
                vec![Ok(()), Ok(())],
            ],
        )
        .await;
        assert_eq!(tried, [vec![0, 1, 2, 3], vec![1, 3]]);
        assert!(matches!(
            results[0],
            Err(StoreError::Conflict(Conflict::LeaseLost))
        ));
        assert!(matches!(
            results[2],
            Err(StoreError::Conflict(Conflict::Behind))
        ));
        assert!(results[1].is_ok() && results[3].is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_behind_a_refused_run_without_a_state() {
        let refused = || Err(Conflict::LeaseLost.into());
        let (tried, results) = committed(
            [false, true, true, false],
            vec![
                vec![refused(), away(), away(), away()],
                vec![Ok(()), away(), away()],
                vec![Ok(()), Ok(())],
            ],
        )
        .await;
        assert_eq!(tried, [vec![0, 1, 2, 3], vec![1, 2, 3], vec![2, 3]]);
        assert!(results[0].is_err() && results[1..].iter().all(Result::is_ok));
    }
}
