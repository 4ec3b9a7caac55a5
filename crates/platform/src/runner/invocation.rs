//! An invocation in the memory of a runner, and the waiter for its run.

use std::sync::Arc;

use headwater_engine::Response;
use headwater_model::{
    id::InvocationId,
    origin::Origin,
    outcome::{Limit, Outcome},
    time::EpochMs,
};
use headwater_store::{Admission, Lease, NewInvocation, Trigger};
use serde_json::value::RawValue;
use tokio::{sync::oneshot, time::Instant};

use super::run_report::RunReport;
use crate::accounts::UsedAccount;

/// The number of starts of a run whose worker is lost through no fault of its own.
const TRIES_MAX: u32 = 3;

/// The answer of a run with a custom response to its request.
#[derive(Debug)]
pub(crate) enum CustomResponse {
    /// `respond()` was called.
    Responded(Response),
    /// The run returned without calling it.
    NoResponse,
    /// The run threw before calling it.
    Threw,
    /// The run exceeded its wall-clock limit before calling it.
    TimedOut,
    /// No worker could run it.
    Unavailable,
    /// The source is no longer active.
    NotRunning,
}

impl CustomResponse {
    /// The answer to a request whose run ended without `respond()`.
    pub(super) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Returned { .. } => Self::NoResponse,
            Outcome::Threw { .. } => Self::Threw,
            Outcome::LimitExceeded {
                limit: Limit::Wall, ..
            } => Self::TimedOut,
            Outcome::LimitExceeded { .. } => Self::Threw,
            Outcome::Lost { .. } | Outcome::Cancelled { .. } => Self::Unavailable,
        }
    }
}

/// The waiter for a run.
pub(crate) enum Reply {
    /// Nobody.
    None,
    /// An HTTP request.
    Response(oneshot::Sender<CustomResponse>),
    /// A user who started it by hand.
    Report(oneshot::Sender<RunReport>),
}

impl Reply {
    /// Answers a request whose run has ended without `respond()`. Returns whoever waits for a report instead.
    pub(super) fn end(self, outcome: &Outcome) -> Option<oneshot::Sender<RunReport>> {
        match self {
            Self::None => None,
            Self::Report(report) => Some(report),
            Self::Response(reply) => {
                let _ = reply.send(CustomResponse::of(outcome));
                None
            }
        }
    }
}

/// Work for a source.
pub(crate) struct QueuedInvocation {
    pub(crate) invocation_id: InvocationId,
    /// The right to run it; `None` for work that is not queued.
    pub(crate) lease: Option<Lease>,
    pub(crate) trigger: Trigger,
    pub(crate) event: Arc<RawValue>,
    pub(crate) hops: u32,
    pub(crate) queued_at_ms: EpochMs,
    pub(crate) origin: Origin,
    /// The time at which it may be started, if not at once.
    pub(crate) not_before: Option<Instant>,
    /// Whether it has its place in the user's quota of the day.
    pub(crate) is_admitted: bool,
    /// The number of its starts whose worker was lost.
    pub(crate) tries: u32,
    /// The number of its starts by nodes that ended before it did.
    pub(crate) former_starts: u32,
    /// Whether it was repeated with other credentials.
    pub(crate) repeated: bool,
    /// The accounts whose credentials it was started with.
    pub(crate) accounts: Vec<UsedAccount>,
    pub(crate) reply: Reply,
}

impl QueuedInvocation {
    /// Holds on to the lease if it is one of this work, in place of the former.
    pub(super) fn renew(&mut self, lease: &Lease) -> bool {
        let own = self.lease.is_some() && self.invocation_id == lease.invocation_id;
        if own {
            self.lease = Some(lease.clone());
        }
        own
    }

    /// The number of its starts, this one included.
    pub(super) fn starts(&self) -> u32 {
        let of_this_node = self.tries.saturating_add(self.repeated.into());
        self.former_starts.saturating_add(of_this_node)
    }

    /// Whether it must run however long that takes: it is on disk, and nobody who could be told waits for it.
    pub(super) fn is_owed(&self) -> bool {
        self.lease.is_some() && matches!(self.reply, Reply::None)
    }

    /// Whether it is started again: its worker was lost, but not too often.
    pub(super) fn is_retried(&self, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Lost { .. }) && self.tries < TRIES_MAX
    }

    /// The outcome to commit of its last start, which tells of a lost worker that the run is not started again.
    pub(super) fn given_up(&self, outcome: Outcome) -> Outcome {
        let Outcome::Lost { message } = outcome else {
            return outcome;
        };
        let message = match self.tries {
            TRIES_MAX.. => {
                format!("{message}; the run was started {TRIES_MAX} times and is not started again")
            }
            _ => {
                format!("{message}; part of the run had been committed, so it is not started again")
            }
        };
        Outcome::Lost { message }
    }

    /// Work that has never been started, and that no lease holds.
    pub(crate) fn new(invocation: NewInvocation, reply: Reply) -> Self {
        Self {
            invocation_id: invocation.id,
            lease: None,
            trigger: invocation.trigger,
            event: invocation.event,
            hops: invocation.hops,
            queued_at_ms: invocation.now_ms,
            origin: invocation.origin,
            not_before: None,
            is_admitted: invocation.trigger.admission() == Admission::WhenQueued,
            tries: 0,
            former_starts: 0,
            repeated: false,
            accounts: Vec::new(),
            reply,
        }
    }
}
