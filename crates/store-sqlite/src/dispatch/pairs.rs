//! Pairs of an event and a matching subscription, and their invocations and deliveries.

use std::{rc::Rc, sync::LazyLock};

use headwater_model::{
    channel::ChannelClass,
    id::{ListenerId, RunnableId, WebhookId, WorkflowId},
    time::EpochMs,
};
use headwater_store::{
    StoreError, Trigger,
    derived_id::{self, Seed},
};
use rusqlite::{Connection, Row, params};

use super::passing::Passing;
use crate::{
    connection::{ExecutePrepared as _, failed},
    queued_events,
    row::{get, name_of, signed},
};

/// A subscription that an event matches.
pub(super) struct Pair {
    /// Its position.
    pub(super) subscription: i64,
    /// The last position whose event it does not match.
    pub(super) since: i64,
    subscription_id: String,
    pub(super) listener: String,
    /// The owner of the listener if it is a source or workflow that takes events.
    pub(super) runnable_owner: Option<String>,
    /// The workflow's trigger that has the subscription.
    trigger: Option<String>,
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
    fn seed(&self, event: &Passing, salt: i64) -> Seed {
        Seed {
            row: event.position,
            number: self.subscription ^ salt,
        }
    }
}

/// The matching subscriptions in creation order. Each arm reads an index in that order and SQLite merges
/// them, so that nothing is sorted and a step reads no more than its bound, however many subscriptions there are.
static MATCHING: LazyLock<String> = LazyLock::new(|| {
    // ?1 emitter, ?2 its user, ?3 its workspace, ?4 channel, ?5 position up to which, ?6 whether a source gets its own,
    // ?7 after which subscription, ?8 limit, ?9 the pattern of all emitters of its kind.
    let of_user = "user_id = ?2";
    let of_members = "(user_id = ?2 OR EXISTS (SELECT 1 FROM memberships
                                               WHERE workspace_id = ?3 AND memberships.user_id = subscriptions.user_id))";
    let arms = [
        ("?1", of_members),
        ("?3", of_members),
        ("?2", of_user),
        ("?9", of_user),
    ]
    .map(|(emitter, whose)| {
        format!(
            "SELECT position, since, id, listener, trigger_id, user_id AS subscriber FROM subscriptions
                 WHERE emitter = {emitter} AND channel = ?4 AND {whose} AND since < ?5
                   AND (?6 OR listener <> ?1) AND position > ?7"
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
         FROM ({arms} ORDER BY position LIMIT ?8)"
    )
});

/// Up to `limit` pairs, after a subscription, of events like this one up to a position.
pub(super) fn of(
    connection: &Connection,
    event: &Passing,
    owner: &str,
    up_to: i64,
    after: i64,
    limit: u32,
) -> Result<Vec<Rc<Pair>>, StoreError> {
    let failed = failed("looking for subscriptions");
    let mut statement = connection.prepare_cached(&MATCHING).map_err(&failed)?;
    let mut rows = statement
        .query(params![
            event.emitter,
            owner,
            event.workspace,
            event.channel.name(),
            up_to,
            event.channel.class() == ChannelClass::Ordinary,
            after,
            limit,
            match event.emitter.starts_with(WorkflowId::PREFIX) {
                true => "p_*",
                false => "dc_*",
            }
        ])
        .map_err(&failed)?;
    let mut pairs = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        pairs.push(Rc::new(pair(row)?));
    }
    Ok(pairs)
}

fn pair(row: &Row<'_>) -> Result<Pair, StoreError> {
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

/// Queues an invocation of the listening source or workflow; a workflow is told by which emitter.
pub(super) fn enqueue(
    connection: &Connection,
    event: &Passing,
    pair: &Pair,
    (now_ms, salt): (EpochMs, i64),
) -> Result<(), StoreError> {
    let id = derived_id::invocation(now_ms, pair.seed(event, salt));
    let trigger = name_of(&Trigger::Event)?;
    connection
        .execute_prepared(
            "INSERT INTO invocations (id, runnable_id, trigger, timer_prop, event, hops, queued_at_ms, owner_id,
                                      traceparent, trigger_id, cause_emitter_id, cause_ms, cause_sequence)
             SELECT ?1, ?2, ?3, CASE WHEN ?2 GLOB 'p_*' THEN emitter_id END, event, hops + 1, ?4, ?5, traceparent, ?7,
                    emitter_id, ms, sequence
             FROM events WHERE position = ?6",
            params![
                id.as_str(),
                pair.listener,
                trigger,
                signed(now_ms),
                pair.runnable_owner,
                event.position,
                pair.trigger
            ],
        )
        .map_err(failed("queueing an event for its listener"))?;
    match &pair.runnable_owner {
        Some(owner) => queued_events::add(connection, owner, event.bytes),
        None => Ok(()),
    }
}

/// Queues a delivery to the listening webhook.
pub(super) fn deliver(
    connection: &Connection,
    event: &Passing,
    pair: &Pair,
    (now_ms, salt): (EpochMs, i64),
) -> Result<(), StoreError> {
    let id = derived_id::delivery(now_ms, pair.seed(event, salt));
    connection
        .execute_prepared(
            "INSERT INTO deliveries (id, webhook_id, subscription_id, event_position, indexed_at_ms, state,
                                     created_at_ms, generation)
             VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)",
            params![
                id.as_str(),
                pair.listener,
                pair.subscription_id,
                event.position,
                event.indexed_at_ms,
                signed(now_ms),
                pair.webhook_generation
            ],
        )
        .map_err(failed("queueing an event for its webhook"))
        .map(drop)
}

/// Stores the event's data for that many more deliveries.
pub(super) fn keep_event(
    connection: &Connection,
    event: &Passing,
    deliveries: u32,
) -> Result<(), StoreError> {
    if deliveries == 0 {
        return Ok(());
    }
    connection
        .execute_prepared(
            "INSERT INTO delivered_events (position, emitter_id, ms, sequence, channel, event, deliveries, traceparent)
             SELECT position, emitter_id, ms, sequence, channel, event, ?2, traceparent FROM events WHERE position = ?1
             ON CONFLICT DO UPDATE SET deliveries = deliveries + ?2",
            params![event.position, deliveries],
        )
        .map_err(failed("keeping an event for its deliveries"))
        .map(drop)
}
