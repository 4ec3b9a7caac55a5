//! The ways in which storage fails. "Not found" is not among them.

use std::error::Error as StdError;

use headwater_model::id::{
    AccountId, ComponentId, ConnectId, DeliveryId, InvocationId, KeyId, RunnableId, SourceId,
    UserId, WebhookId, WorkflowId, WorkspaceId,
};

use crate::lease::NodeEpoch;

type Source = Box<dyn StdError + Send + Sync>;

/// The reason why a step has no result.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The step no longer applies. Nothing was written.
    #[error("conflict: {0}")]
    Conflict(Conflict),
    /// The engine cannot be reached or is out of room. Nothing was written; trying again may help.
    #[error(
        "the store cannot be used ({context}), and nothing was written: try again in a moment; if it stays so, the node's log \
         has the reason, such as a full disk or a database that is away"
    )]
    Unavailable {
        /// The step that failed.
        context: String,
        /// The database's own error.
        #[source]
        source: Source,
    },
    /// Stored data cannot be parsed, or violates the schema.
    #[error("stored data is corrupt: {0}; restore the data folder from a backup")]
    Corrupt(String),
    /// The data was written by another version of the program, or another process holds it. Nothing was changed.
    #[error("{0}")]
    Unsupported(String),
}

/// The reason why a step no longer applies. Kinds and ids only: sentences for people are written above the store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The lease was given back, taken over or voided, or belongs to something else.
    #[error("the lease was lost")]
    LeaseLost,
    /// A living node holds the runnable.
    #[error("held by the node of epoch {}", by.0)]
    Held {
        /// The epoch of the holder.
        by: NodeEpoch,
    },
    /// The thing no longer exists.
    #[error("{0} is gone")]
    Gone(Entity),
    /// The thing takes no work while it is inactive.
    #[error("{0} is inactive")]
    Inactive(Entity),
    /// As many runs as may wait to begin wait already.
    #[error("{0} has no room for another run that waits")]
    QueueFull(Entity),
    /// The name or id is taken.
    #[error("{0} is taken")]
    Taken(Taken),
    /// It is the last one, and one must remain.
    #[error("{0} is the last one")]
    Last(Last),
    /// The thing is still needed.
    #[error("{} is in use: {} sources, {} webhooks", .0.user_id, .0.sources, .0.webhooks)]
    InUse(InUse),
    /// The connect has ended already.
    #[error("connect {0} has ended")]
    Ended(ConnectId),
    /// The dedupe state counts events of a commit before it that was refused.
    #[error("behind a refused commit")]
    Behind,
}

/// A thing that a conflict is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entity {
    /// A source or a workflow.
    Runnable(RunnableId),
    /// A webhook.
    Webhook(WebhookId),
    /// A delivery.
    Delivery(DeliveryId),
    /// A saved component.
    Component(ComponentId),
    /// An account.
    Account(AccountId),
    /// A user.
    User(UserId),
    /// A workspace.
    Workspace(WorkspaceId),
    /// An API key.
    Key(KeyId),
}

impl std::fmt::Display for Entity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Runnable(id) => id.as_str(),
            Self::Webhook(id) => id.as_str(),
            Self::Delivery(id) => id.as_str(),
            Self::Component(id) => id.as_str(),
            Self::Account(id) => id.as_str(),
            Self::User(id) => id.as_str(),
            Self::Workspace(id) => id.as_str(),
            Self::Key(id) => id.as_str(),
        })
    }
}

/// A unique name or id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Taken {
    /// A user's name.
    #[error("username {0}")]
    Username(String),
    /// A workspace's slug.
    #[error("orgname {0}")]
    Orgname(String),
    /// The token of an endpoint; it is a secret.
    #[error("an endpoint token")]
    EndpointToken,
    /// The hash of an API key.
    #[error("a key's hash")]
    KeyHash,
    /// The id of a queued invocation.
    #[error("invocation {0}")]
    Invocation(InvocationId),
    /// The id of a workflow of another owner.
    #[error("workflow {0}")]
    Workflow(WorkflowId),
}

/// The last one of a kind, which must remain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Last {
    /// A user's last key, used to delete itself.
    #[error("key {0}")]
    Key(KeyId),
    /// The last member of a workspace.
    #[error("member {user_id} of {workspace_id}")]
    Member {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// Its only member.
        user_id: UserId,
    },
}

/// A user whose resources would have no owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InUse {
    /// The user.
    pub user_id: UserId,
    /// The number of its sources that no other member would take over.
    pub sources: u64,
    /// The number of its workflows that no other member would take over.
    pub workflows: u64,
    /// The number of its webhooks that no other member would take over.
    pub webhooks: u64,
}

impl Conflict {
    /// A source that is gone.
    pub fn source_gone(id: &SourceId) -> Self {
        Self::Gone(Entity::Runnable(id.clone().into()))
    }
}

impl From<Conflict> for StoreError {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}

impl StoreError {
    /// The error with its cause, for the node's log only: the database's text must not reach a client.
    pub fn in_full(&self) -> String {
        match self {
            Self::Unavailable { context, source } => {
                format!("the store cannot be used ({context}): {source}")
            }
            Self::Conflict(_) | Self::Corrupt(_) | Self::Unsupported(_) => self.to_string(),
        }
    }

    /// The refusal of a store into which another is being copied, or was until that ended.
    pub const UNFINISHED_COPY: &str = "a copy into this store was begun and not finished, so that a part may be missing: run \
                                       `headwater store copy` again, which begins anew";

    /// An error of the database while doing `context`.
    pub fn unavailable(context: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::Unavailable {
            context: context.into(),
            source: source.into(),
        }
    }
}
