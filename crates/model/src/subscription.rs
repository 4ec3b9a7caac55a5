//! Subscriptions: an emitter's channel and the listener that gets its events (docs/guide/webhooks.md).

use std::{fmt, str::FromStr};

use crate::{
    channel::Channel,
    error::Invalid,
    id::{EmitterId, ListenerId, SubscriptionId, UserId, WorkspaceId},
};

/// The emitters that a subscription listens to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EmitterPattern {
    /// One source or workflow.
    One(EmitterId),
    /// `dc_*`: every source of the owner, later ones too.
    AllSources,
    /// `p_*`: every workflow of the owner, later ones too.
    AllWorkflows,
    /// Every emitter of a user.
    User(UserId),
    /// Every emitter of a workspace.
    Workspace(WorkspaceId),
}

impl FromStr for EmitterPattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "dc_*" => return Ok(Self::AllSources),
            "p_*" => return Ok(Self::AllWorkflows),
            _ => {}
        }
        if let Ok(user) = text.parse() {
            return Ok(Self::User(user));
        }
        if let Ok(workspace) = text.parse() {
            return Ok(Self::Workspace(workspace));
        }
        text.parse().map(Self::One).map_err(|_| {
            let reason = match text.split_once('_') {
                Some(("dc", _)) => format!("there is no source `{text}`"),
                Some(("p", _)) => format!("there is no workflow `{text}`"),
                _ => format!("`{text}` is neither dc_…, p_…, dc_*, p_* nor your own u_… or o_…"),
            };
            Invalid::new("emitter_id", reason)
        })
    }
}

impl fmt::Display for EmitterPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(id) => id.fmt(f),
            Self::AllSources => f.write_str("dc_*"),
            Self::AllWorkflows => f.write_str("p_*"),
            Self::User(id) => id.fmt(f),
            Self::Workspace(id) => id.fmt(f),
        }
    }
}

/// One subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Its id.
    pub id: SubscriptionId,
    /// Its owner; it only ever matches this user's or workspace's emitters.
    pub user_id: UserId,
    /// The emitters.
    pub emitter: EmitterPattern,
    /// The listener.
    pub listener: ListenerId,
    /// The channel; the default one when `event_name` is empty.
    pub channel: Channel,
}

/// A promise to subscribe a listener to every source that its user deploys later (`POST
/// /auto_subscriptions`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoSubscription {
    /// Its id.
    pub id: SubscriptionId,
    /// The owner of the later sources.
    pub user_id: UserId,
    /// The listener.
    pub listener: ListenerId,
    /// `$errors` or `$logs`.
    pub channel: Channel,
}
