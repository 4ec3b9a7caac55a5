//! A run of a workflow in this node's memory.

use std::{mem, sync::Arc, time::Duration};

use headwater_engine::WorkerOwner;
use headwater_model::{
    channel::Channel,
    event::NewEvent,
    id::{InvocationId, TriggerKind},
    time::EpochMs,
};
use headwater_store::{Claimed, KvWrite, NewInvocation, NewSend, RunBlob, Usage, WaitId};
use headwater_workflow::{
    path::Path,
    run::{Cause, Failure, Kept, Order, RunTree, State, StepEnd, StepOutcome},
};

use super::{
    deployed::Deployed,
    effects::{Emitted, Streamed},
    endings::Awaited,
    head::Head,
    step_logs::StepLogs,
};
use crate::config::ResultLimits;

/// The usual time limits of a step: of runs that somebody waits for, and of others.
const LIMIT: Duration = Duration::from_secs(30);
const TIMER_LIMIT: Duration = Duration::from_secs(60);

/// Nodes that may end in a row while a run is in them and gets no further. Innocent runs meet a few, as many as a machine
/// needs to be mended.
pub(super) const NODES_LOST_MAX: u32 = 10;

/// The effect of a commit on the invocation of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Committing {
    /// It goes on in this node's memory.
    GoesOn,
    /// It is given back, and waits.
    Rests,
    /// It ends.
    Ends,
}

/// The things that the next commit writes besides changed places.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) events: Vec<NewEvent>,
    pub(super) sends: Vec<NewSend>,
    pub(super) calls: Vec<NewInvocation>,
    pub(super) applied: Vec<WaitId>,
    pub(super) kv_writes: Vec<KvWrite>,
    /// Blobs that the run takes over from the one that it repeats.
    pub(super) blobs: Vec<RunBlob>,
    pub(super) usage: Usage,
}

/// A run of a workflow.
pub(super) struct LiveRun {
    pub(super) claimed: Claimed,
    pub(super) head: Head,
    pub(super) tree: RunTree,
    pub(super) deployed: Arc<Deployed>,
    /// When this node began or went on with it.
    pub(super) started_at_ms: EpochMs,
    pub(super) execution: InvocationId,
    pub(super) pending: Pending,
    /// The place in a worker that it used last: its `/tmp` is in that worker.
    pub(super) worker: Option<WorkerOwner>,
    /// Whether something happened that has to be durable before anything else begins.
    pub(super) is_dirty: bool,
    /// The commit that is being written.
    pub(super) committing: Option<Committing>,
    /// Whether the limits of its workflow let it begin.
    pub(super) is_admitted: bool,
    /// Whether the code that it goes on with is not executed, but fails: nodes ended of it again and again.
    pub(super) is_given_up: bool,
    /// Orders that wait for the commit.
    pub(super) orders: Vec<Order>,
    pub(super) standing: State,
    pub(super) awaited: Awaited,
    /// The log lines of places that have not ended.
    pub(super) logs: StepLogs,
}

impl LiveRun {
    pub(super) fn id(&self) -> &InvocationId {
        &self.claimed.lease.invocation_id
    }

    /// The id of this execution: another one after each pause.
    pub(super) fn execution_id(&self) -> &InvocationId {
        &self.execution
    }

    /// The same for everything that goes on as this run, and for its replays.
    pub(super) fn trace_id(&self) -> &str {
        self.head
            .trace_id
            .as_deref()
            .unwrap_or_else(|| self.id().as_str())
    }

    /// The folder of its `/tmp`.
    pub(super) fn tmp(&self) -> &str {
        self.id().as_str()
    }

    /// Begins: the limits of its workflow let it.
    pub(super) fn begin(&mut self, now_ms: EpochMs) {
        self.is_admitted = true;
        self.head.started_at_ms.get_or_insert(now_ms);
        self.started_at_ms = now_ms;
    }

    /// The time that a step may take.
    pub(super) fn time_limit(&self, path: &Path) -> Duration {
        let own = self.tree.node(path).and_then(|node| node.timeout);
        let settings = &self.deployed.definition.settings;
        let kind = self.claimed.via.as_deref().and_then(|via| via.parse().ok());
        let kind = kind.map(|trigger: headwater_model::id::TriggerId| trigger.kind());
        let usual = match kind {
            Some(TriggerKind::Timer) => TIMER_LIMIT,
            _ => LIMIT,
        };
        own.or(settings.timeout).unwrap_or(usual)
    }

    /// Finds what is to be done next. The orders wait until everything before them is durable.
    pub(super) fn advance(&mut self, now_ms: EpochMs) {
        let (orders, standing) = self.tree.advance(now_ms);
        self.orders.extend(orders);
        if standing != State::Running {
            self.is_dirty = true;
        }
        self.standing = standing;
    }

    /// Counts what a step returned and exported, and fails it if the run would keep too much: others keep their data.
    /// False: it failed.
    pub(super) fn measure(&mut self, end: &mut StepEnd, limits: ResultLimits) -> bool {
        let returned = match &end.outcome {
            StepOutcome::Returned(value) => value.as_ref(),
            StepOutcome::Skipped | StepOutcome::Failed(_) => None,
        };
        let exports = end.exports.iter().map(|(_, value)| value);
        let bytes: u64 = exports.chain(returned).map(Kept::bytes).sum();
        let ResultLimits { step_mib, run_mib } = limits;
        let exceeds = |bytes: u64, mib: u32| bytes > u64::from(mib) << 20;
        let kept_bytes = self.head.kept_bytes + bytes;
        let (limit, option) = match (exceeds(bytes, step_mib), exceeds(kept_bytes, run_mib)) {
            (true, _) => (
                format!("a step returns and exports at most {step_mib} MiB"),
                "--workflow-step-results-mib",
            ),
            (false, true) => (
                format!("the steps of a run return and export at most {run_mib} MiB together"),
                "--workflow-run-results-mib",
            ),
            (false, false) => {
                self.head.kept_bytes = kept_bytes;
                return true;
            }
        };
        let text = format!(
            "{limit}; keep large data in files (`$.files`) or in a data store, or raise `{option}` of the node"
        );
        end.exports.clear();
        end.outcome = StepOutcome::Failed(Failure::stated(
            Cause::TooMuchOutput,
            "TooMuchOutputError",
            text,
        ));
        false
    }

    /// Adds what a step emitted and streamed to the events of the next commit.
    pub(super) fn emit(&mut self, emitted: Vec<Emitted>, streamed: Vec<Streamed>) {
        let emitted = emitted.into_iter().map(|emit| (emit.channel, emit.event));
        let streamed = streamed
            .into_iter()
            .map(|streamed| (Some(streamed.channel), streamed.payload));
        let (hops, trace) = (self.claimed.hops, self.claimed.origin.trace);
        let events = emitted.chain(streamed).map(|(channel, event)| NewEvent {
            channel: channel.map(Channel::named).unwrap_or_default(),
            event,
            key: None,
            summary: None,
            ts: None,
            scheduled: None,
            hops,
            trace,
        });
        self.pending.events.extend(events);
    }

    /// The orders that may be carried out now.
    pub(super) fn take_orders(&mut self) -> Vec<Order> {
        match self.is_dirty || self.committing.is_some() {
            true => Vec::new(),
            false => mem::take(&mut self.orders),
        }
    }
}
