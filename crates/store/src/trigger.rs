//! Triggers of invocations, and everything that depends on which one it was.

use serde::{Deserialize, Serialize};

/// The cause of an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A tick of a timer.
    Timer,
    /// A request at an HTTP interface.
    Http,
    /// Somebody asked for it.
    Manual,
    /// An event of an emitter it subscribes to.
    Event,
}

/// The order in which runs of one trigger start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// One after the other with all others of this lane.
    Serial,
    /// Side by side.
    Concurrent,
}

/// The moment at which an invocation takes its place in its user's quota of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// When it is accepted: a caller is told if there is no place.
    WhenQueued,
    /// When it is about to start: it waits until there is a place.
    WhenStarted,
}

impl Trigger {
    /// The order in which its runs start.
    pub fn lane(self) -> Lane {
        match self {
            Self::Http => Lane::Concurrent,
            Self::Timer | Self::Manual | Self::Event => Lane::Serial,
        }
    }

    /// The moment at which its invocations take their place in the quota.
    pub fn admission(self) -> Admission {
        match self {
            Self::Http | Self::Manual => Admission::WhenQueued,
            Self::Timer | Self::Event => Admission::WhenStarted,
        }
    }
}
