//! Triggers of invocations, and the rules that depend on the trigger.

use serde::{Deserialize, Serialize};

/// The cause of an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A tick of a timer.
    Timer,
    /// A request at an HTTP interface.
    Http,
    /// A request to run it by hand.
    Manual,
    /// An event of an emitter it subscribes to.
    Event,
    /// A mail to a workflow.
    Email,
    /// A step of a workflow that calls this one.
    Call,
    /// A request to do a run of a workflow again.
    Replay,
}

/// The scheduling of runs of one trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// One at a time, in order with all others of this lane.
    Serial,
    /// Concurrently.
    Concurrent,
}

/// The moment at which an invocation counts against its user's daily quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// When it is accepted: a caller is told if the quota is used up.
    WhenQueued,
    /// When it is about to start: it waits until the quota allows it.
    WhenStarted,
}

impl Trigger {
    /// Whether somebody asked for the run, which then begins even if nothing else starts one.
    pub fn is_by_hand(self) -> bool {
        matches!(self, Self::Manual | Self::Replay)
    }

    /// The scheduling of its runs.
    pub fn lane(self) -> Lane {
        match self {
            Self::Http => Lane::Concurrent,
            Self::Timer | Self::Manual | Self::Event | Self::Email | Self::Call | Self::Replay => {
                Lane::Serial
            }
        }
    }

    /// The moment at which its invocations count against the quota.
    pub fn admission(self) -> Admission {
        match self {
            Self::Http | Self::Manual | Self::Replay => Admission::WhenQueued,
            Self::Timer | Self::Event | Self::Email | Self::Call => Admission::WhenStarted,
        }
    }
}
