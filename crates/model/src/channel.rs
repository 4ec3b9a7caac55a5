//! Channels: the named streams of one emitter (docs/guide/writing-a-component.md, "Events").

use serde::{Deserialize, Serialize};

/// A channel's name. The empty name is the default channel.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Channel(String);

/// Channels that are retained together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChannelClass {
    /// The default channel and every channel that components name.
    Ordinary,
    /// Errors thrown by sources and workflows.
    Errors,
    /// Logs produced by sources.
    Logs,
    /// Events held until their `delivery_ts`.
    Scheduled,
}

impl ChannelClass {
    /// A small number that stores keep; never reassigned.
    pub const fn code(self) -> u8 {
        match self {
            Self::Ordinary => 0,
            Self::Errors => 1,
            Self::Logs => 2,
            Self::Scheduled => 3,
        }
    }
}

impl Channel {
    /// Errors thrown by workflows or sources.
    pub const ERRORS: &'static str = "$errors";
    /// Logs produced by sources.
    pub const LOGS: &'static str = "$logs";
    /// Events emitted with a `delivery_ts` still to come.
    pub const SCHEDULED: &'static str = "$in";

    /// The channel of that name; the empty name is the default channel.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The `$errors` channel.
    pub fn errors() -> Self {
        Self(Self::ERRORS.to_owned())
    }

    /// The `$logs` channel.
    pub fn logs() -> Self {
        Self(Self::LOGS.to_owned())
    }

    /// The `$in` channel.
    pub fn scheduled() -> Self {
        Self(Self::SCHEDULED.to_owned())
    }

    /// The name; empty for the default channel.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The kind of channels that this one is retained with.
    pub fn class(&self) -> ChannelClass {
        match self.0.as_str() {
            Self::ERRORS => ChannelClass::Errors,
            Self::LOGS => ChannelClass::Logs,
            Self::SCHEDULED => ChannelClass::Scheduled,
            _ => ChannelClass::Ordinary,
        }
    }
}
