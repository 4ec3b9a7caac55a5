//! Runs: the records of invocations that have ended.
//!
//! The last commit of a run writes one row, in the same step as its other effects. Rows are kept as events are: the
//! newest of each runnable, failures apart from successes.

use async_trait::async_trait;
use headwater_model::time::EpochMs;
pub use headwater_model::{dedupe::Dropped, limits::DROPPED_KEYS_MAX};
use headwater_model::{
    event::{Event, EventRef},
    id::{ComponentId, DeploymentId, EventId, InvalidId, InvocationId, RunnableId},
    origin::Origin,
    outcome::{Limit, Outcome},
    page::{Page, PageRequest},
};
use serde::{Deserialize, Serialize};

use crate::{
    error::StoreError, progress::Progress, run_facts::RunFacts, tenants::Viewer, trigger::Trigger,
    workflow_runs::OpenRun,
};

/// Characters of an error's first line that are kept.
pub const RUN_ERROR_CHARS_MAX: usize = 500;

/// The cause of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunTrigger {
    /// A tick of a timer.
    Timer,
    /// A request at an HTTP interface.
    Http,
    /// A request to run it by hand.
    Manual,
    /// An event of an emitter that the runnable subscribes to.
    Event,
    /// A mail to a workflow.
    Email,
    /// A step of a workflow that calls this one.
    Call,
    /// A request to do a run of a workflow again.
    Replay,
    /// The first deployment: the hook `deploy`.
    Deploy,
    /// The hook `activate`.
    Activate,
    /// The hook `deactivate`.
    Deactivate,
}

impl From<Trigger> for RunTrigger {
    fn from(trigger: Trigger) -> Self {
        match trigger {
            Trigger::Timer => Self::Timer,
            Trigger::Http => Self::Http,
            Trigger::Manual => Self::Manual,
            Trigger::Event => Self::Event,
            Trigger::Email => Self::Email,
            Trigger::Call => Self::Call,
            Trigger::Replay => Self::Replay,
        }
    }
}

impl RunTrigger {
    /// The trigger of the invocation; hooks have none.
    pub fn of_invocation(self) -> Option<Trigger> {
        match self {
            Self::Timer => Some(Trigger::Timer),
            Self::Http => Some(Trigger::Http),
            Self::Manual => Some(Trigger::Manual),
            Self::Event => Some(Trigger::Event),
            Self::Email => Some(Trigger::Email),
            Self::Call => Some(Trigger::Call),
            Self::Replay => Some(Trigger::Replay),
            Self::Deploy | Self::Activate | Self::Deactivate => None,
        }
    }
}

/// The code that a run ran; in JSON its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RunVersion {
    /// A saved component.
    Component(ComponentId),
    /// A deployment of a workflow.
    Deployment(DeploymentId),
}

impl RunVersion {
    /// The id as it is shown and stored.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Component(id) => id.as_str(),
            Self::Deployment(id) => id.as_str(),
        }
    }
}

impl std::str::FromStr for RunVersion {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        match text.parse() {
            Ok(id) => Ok(Self::Deployment(id)),
            Err(_) => text.parse().map(Self::Component),
        }
    }
}

/// The outcome of a run, without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// The code returned.
    Returned,
    /// The code threw.
    Threw,
    /// The run was ended at a limit.
    LimitExceeded(Limit),
    /// The worker was lost, and the run is not started again.
    Lost,
    /// It was cancelled.
    Cancelled,
}

impl From<&Outcome> for RunOutcome {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Returned { .. } => Self::Returned,
            Outcome::Threw { .. } => Self::Threw,
            Outcome::LimitExceeded { limit, .. } => Self::LimitExceeded(*limit),
            Outcome::Lost { .. } => Self::Lost,
            Outcome::Cancelled { .. } => Self::Cancelled,
        }
    }
}

impl RunOutcome {
    /// The outcomes of runs that went wrong: all but to return and to be cancelled.
    pub const WRONG: [Self; 5] = [
        Self::Threw,
        Self::LimitExceeded(Limit::Wall),
        Self::LimitExceeded(Limit::Memory),
        Self::LimitExceeded(Limit::Output),
        Self::Lost,
    ];

    /// Whether it ended other than by returning.
    pub fn is_failure(self) -> bool {
        self != Self::Returned
    }

    /// The name by which stores keep it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Returned => "returned",
            Self::Threw => "threw",
            Self::LimitExceeded(Limit::Wall) => "limit_wall",
            Self::LimitExceeded(Limit::Memory) => "limit_memory",
            Self::LimitExceeded(Limit::Output) => "limit_output",
            Self::Lost => "lost",
            Self::Cancelled => "cancelled",
        }
    }

    /// The outcome with this name.
    ///
    /// # Errors
    /// `Corrupt` when there is none.
    pub fn named(name: &str) -> Result<Self, StoreError> {
        let mut outcomes = Self::WRONG
            .into_iter()
            .chain([Self::Returned, Self::Cancelled]);
        let unknown = || StoreError::Corrupt(format!("`{name}` is not an outcome"));
        outcomes.find(|one| one.name() == name).ok_or_else(unknown)
    }
}

/// The end of a run, as its last commit records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedRun {
    /// The code that ran.
    pub version: RunVersion,
    /// The cause.
    pub trigger: RunTrigger,
    /// The run that it repeats, if it is a replay.
    pub replay_of: Option<InvocationId>,
    /// Since when it was to run, epoch milliseconds.
    pub queued_at_ms: EpochMs,
    /// The time of its last start, epoch milliseconds; a worker may have to be started after it.
    pub started_at_ms: EpochMs,
    /// When its code ended, epoch milliseconds.
    pub ended_at_ms: EpochMs,
    /// The outcome.
    pub outcome: RunOutcome,
    /// The error, if it failed; [`RUN_ERROR_CHARS_MAX`] characters of its first line are kept.
    pub error: Option<String>,
    /// The number of events that were appended.
    pub emitted: u32,
    /// The events that dedupe dropped.
    pub dropped: Dropped,
    /// Whether any of its commits scheduled events for later release.
    pub has_scheduled: bool,
    /// The request behind it.
    pub origin: Origin,
    /// Facts that lists do not filter by.
    pub facts: RunFacts,
}

impl EndedRun {
    /// The part of its error that is kept: [`RUN_ERROR_CHARS_MAX`] characters of the first line.
    pub fn kept_error(&self) -> Option<&str> {
        let line = self.error.as_deref()?.lines().next().unwrap_or_default();
        let end = line.char_indices().nth(RUN_ERROR_CHARS_MAX);
        Some(end.map_or(line, |(end, _)| &line[..end]))
    }
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Its id, which is that of its invocation if it was queued.
    pub id: InvocationId,
    /// The source or workflow that ran.
    pub runnable: RunnableId,
    /// The event that it ran for, which its emitter's log may have trimmed by now.
    pub caused_by: Option<EventRef>,
    /// Its end.
    pub ended: EndedRun,
    /// The emitter's last event id at its end: the run's events are not behind it, but for those that were scheduled.
    pub last_event: Option<EventId>,
}

impl RunRecord {
    /// The stretch of its emitter's log that has its events; `None`: it emitted none.
    pub fn stretch(&self) -> Option<RunStretch> {
        let ended = &self.ended;
        let until = match (ended.has_scheduled, self.last_event) {
            (true, _) => None,
            (false, Some(last)) => Some(last),
            (false, None) => return None,
        };
        // A clock that steps back gives the end a time before the beginning.
        let since_ms = ended.queued_at_ms.min(ended.started_at_ms);
        Some(RunStretch {
            runnable: self.runnable.clone(),
            run_id: self.id.clone(),
            since_ms: since_ms.min(ended.ended_at_ms),
            until,
        })
    }
}

/// The stretch of an emitter's log in which the events of a run are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStretch {
    /// The emitter.
    pub runnable: RunnableId,
    /// The run.
    pub run_id: InvocationId,
    /// The time of the first id that they can have, epoch milliseconds.
    pub since_ms: EpochMs,
    /// The last one; without it, the stretch goes on to the newest event.
    pub until: Option<EventId>,
}

/// A run in a list of those that have ended and those that have not.
#[derive(Debug, Clone)]
pub enum ListedRun {
    /// It has not ended.
    Open(Box<OpenRun>),
    /// It has ended.
    Ended(Box<RunRecord>),
}

impl ListedRun {
    /// Its id.
    pub fn id(&self) -> &InvocationId {
        match self {
            Self::Open(run) => &run.id,
            Self::Ended(run) => &run.id,
        }
    }
}

/// Outcomes to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeFilter {
    /// Every failure.
    Failed,
    /// Every success.
    Succeeded,
    /// This outcome alone.
    Exactly(RunOutcome),
}

/// Runs to list; a field that is `None` does not filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Their outcome.
    pub outcome: Option<OutcomeFilter>,
    /// Their cause.
    pub trigger: Option<RunTrigger>,
    /// The earliest start, epoch milliseconds.
    pub since_ms: Option<EpochMs>,
    /// Whether dedupe dropped any of their events.
    pub has_dropped: Option<bool>,
}

/// The numbers of newest runs to keep of each runnable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptRuns {
    /// The number of successes.
    pub successes: u32,
    /// The number of failures.
    pub failures: u32,
}

/// Records of runs. Writing happens in [`crate::WorkQueue::commit_runs`] and [`crate::Catalog::settle_source`] only.
#[async_trait]
pub trait Runs {
    /// A run that has ended.
    /// MUST be one record per run, written with the rest of its last commit
    /// (`conformance::runs::a_run_leaves_one_record_with_its_commit`).
    /// MUST bound its size, whatever the run threw or dropped
    /// (`conformance::runs::a_record_is_small_whatever_was_thrown`).
    async fn run(&self, id: &InvocationId) -> Result<Option<RunRecord>, StoreError>;

    /// A page of a runnable's runs, newest first. `total_count` counts those of the filter.
    /// MUST page both ways (`conformance::runs::runs_are_paged_both_ways`), and show those of the filter alone
    /// (`conformance::runs::runs_are_listed_by_outcome_trigger_start_and_drops`).
    async fn runs(
        &self,
        runnable: &RunnableId,
        filter: RunFilter,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<RunRecord>, StoreError>;

    /// Up to `limit` events that a run emitted and that are still in the log, oldest first.
    /// MUST find scheduled ones, too, released or not (`conformance::runs::a_runs_events_are_found`), those of earlier
    /// commits of a run that was never queued as well
    /// (`conformance::runs::events_that_an_earlier_part_scheduled_are_found`).
    async fn run_events(&self, run: &RunRecord, limit: u32) -> Result<Vec<Event>, StoreError>;

    /// Up to `limit` events of channels that users name, which a run emitted in the stretch and which are still in the
    /// log, oldest first.
    /// MUST find them before and after the end of the run, and no others
    /// (`conformance::runs::ordinary_events_of_a_run_are_found_alone`).
    async fn ordinary_run_events(
        &self,
        stretch: &RunStretch,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError>;

    /// A page of the runs of listening sources and workflows that an event caused, newest first, whether they have ended
    /// or not: those that the viewer may see. The event itself may be gone.
    /// MUST find a run from the dispatch of its event on, as long as its record is kept
    /// (`conformance::causes::an_event_leads_to_the_runs_that_it_caused`).
    /// MUST NOT show runs of what the viewer may not see, nor count them
    /// (`conformance::causes::runs_of_other_tenants_are_not_among_those_of_an_event`).
    async fn caused_runs(
        &self,
        event: &EventRef,
        viewer: &Viewer,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<ListedRun>, StoreError>;

    /// Deletes up to `limit` runs beyond those to keep.
    /// Several nodes may call it at once.
    /// MUST keep failures however many successes follow
    /// (`conformance::runs::failures_are_kept_apart_from_successes`), and the failure that a row of failures up to now
    /// began with, unless none are to be kept
    /// (`conformance::source_health::a_source_fails_since_the_first_failure_after_a_success`).
    async fn trim_runs(&self, keep: KeptRuns, limit: u32) -> Result<Progress, StoreError>;

    /// Deletes up to `limit` runs that ended longer ago than the days for which their workflows keep them, and values of
    /// idempotency keys that have expired.
    /// MUST keep runs that have not ended, however old
    /// (`conformance::admission::ended_runs_go_after_the_days_of_their_workflow`).
    async fn expire_runs(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError>;
}
