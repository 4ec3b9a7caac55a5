//! Pairs of an event and a matching subscription.

use std::sync::{Arc, LazyLock};

use headwater_model::{
    channel::ChannelClass,
    id::{ListenerId, RunnableId, WebhookId, WorkflowId},
};
use headwater_store::{StoreError, derived_id::Seed};
use tokio_postgres::Row;

use super::passing::Passing;
use crate::{
    connection::{Connection, failed},
    row::{get, signed},
};

/// A subscription that an event matches.
pub(super) struct Pair {
    /// Its position.
    pub(super) subscription: i64,
    /// The last position whose event it does not match.
    pub(super) since: i64,
    pub(super) subscription_id: String,
    pub(super) listener: String,
    /// The owner of the listener if it is a source or workflow that takes events.
    pub(super) runnable_owner: Option<String>,
    /// The workflow's trigger that has the subscription.
    pub(super) trigger: Option<String>,
    /// The generation of the listener if it is a webhook that takes events.
    pub(super) webhook_generation: Option<i64>,
}

impl Pair {
    /// Whether the listener is a webhook that takes events.
    pub(super) fn is_webhook(&self) -> bool {
        self.webhook_generation.is_some()
    }

    pub(super) fn runnable(&self) -> Result<RunnableId, StoreError> {
        parsed_listener(&self.listener)
    }

    pub(super) fn webhook(&self) -> Result<WebhookId, StoreError> {
        parsed_listener(&self.listener)
    }

    pub(super) fn listener_id(&self) -> Result<ListenerId, StoreError> {
        parsed_listener(&self.listener)
    }

    /// Whether the listener is a workflow that takes events.
    pub(super) fn is_workflow(&self) -> bool {
        self.runnable_owner.is_some() && self.listener.starts_with(WorkflowId::PREFIX)
    }

    /// The seed for the id of the pair's invocation or delivery. Dispatch, which passes a pair on once, has the salt 0.
    pub(super) fn seed(&self, event: &Passing, salt: i64) -> Seed {
        Seed {
            row: event.position,
            number: self.subscription ^ salt,
        }
    }
}

/// The matching subscriptions in creation order. Each arm reads an index in that order and PostgreSQL merges
/// them, so that nothing is sorted and a step reads no more than its bound, however many subscriptions there are.
static MATCHING: LazyLock<String> = LazyLock::new(|| {
    // $1 emitter, $2 its user, $3 its workspace, $4 channel, $5 position up to which, $6 whether a source gets its own,
    // $7 after which subscription, $8 limit, $9 the pattern of all emitters of its kind.
    let of_user = "user_id = $2";
    let of_members = "(user_id = $2 OR EXISTS (SELECT 1 FROM memberships
                                               WHERE workspace_id = $3 AND memberships.user_id = subscriptions.user_id))";
    let arms = [
        ("$1", of_members),
        ("$3", of_members),
        ("$2", of_user),
        ("$9", of_user),
    ]
    .map(|(emitter, whose)| {
        format!(
            "SELECT position, since, id, listener, trigger_id, user_id AS subscriber FROM subscriptions
                 WHERE emitter = {emitter} AND hash_of(channel) = hash_of($4) AND channel = $4 AND {whose}
                   AND since < $5 AND ($6 OR listener <> $1) AND position > $7"
        )
    })
    .join(" UNION ALL ");
    format!(
        "SELECT position, since, id, listener, trigger_id,
                coalesce((SELECT coalesce(workspace_id, user_id) FROM sources
                          WHERE id = listener AND state IN ('active', 'updating', 'deploying')),
                         (SELECT coalesce(workspace_id, user_id) FROM workflows
                          WHERE id = listener AND state = 'active'
                            AND (user_id = subscriber OR workspace_id IN (
                                SELECT workspace_id FROM memberships WHERE user_id = subscriber)))) AS runnable_owner,
                (SELECT generation FROM webhooks WHERE id = listener AND active) AS webhook_generation
         FROM ({arms} ORDER BY position LIMIT $8) AS matching ORDER BY position"
    )
});

/// Up to `limit` pairs, after a subscription, of events like this one up to a position.
pub(super) async fn of(
    connection: &Connection,
    event: &Passing,
    owner: &str,
    up_to: i64,
    after: i64,
    limit: u32,
) -> Result<Vec<Arc<Pair>>, StoreError> {
    let failed = failed("looking for subscriptions");
    let rows = connection
        .query(
            &MATCHING,
            &[
                &event.emitter,
                &owner,
                &event.workspace,
                &event.channel.name(),
                &up_to,
                &(event.channel.class() == ChannelClass::Ordinary),
                &after,
                &signed(limit),
                &match event.emitter.starts_with(WorkflowId::PREFIX) {
                    true => "p_*",
                    false => "dc_*",
                },
            ],
        )
        .await
        .map_err(&failed)?;
    let mut pairs = Vec::new();
    for row in &rows {
        pairs.push(Arc::new(pair(row)?));
    }
    Ok(pairs)
}

fn pair(row: &Row) -> Result<Pair, StoreError> {
    Ok(Pair {
        subscription: get(row, "position")?,
        since: get(row, "since")?,
        subscription_id: get(row, "id")?,
        listener: get(row, "listener")?,
        runnable_owner: get(row, "runnable_owner")?,
        trigger: get(row, "trigger_id")?,
        webhook_generation: get(row, "webhook_generation")?,
    })
}

fn parsed_listener<T: std::str::FromStr<Err = headwater_model::id::InvalidId>>(
    listener: &str,
) -> Result<T, StoreError> {
    listener
        .parse()
        .map_err(|error| StoreError::Corrupt(format!("a subscription's listener: {error}")))
}
