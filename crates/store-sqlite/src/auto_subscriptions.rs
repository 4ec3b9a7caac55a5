//! Automatic subscriptions: written once, they subscribe their listener to each source and workflow that their user
//! creates later.

use headwater_model::{channel::Channel, subscription::AutoSubscription, time::EpochMs};
use headwater_store::{
    Owner, StoreError,
    derived_id::{self, Seed},
};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::{get, parsed},
};

pub(crate) fn create(
    connection: &Connection,
    wanted: &AutoSubscription,
) -> Result<AutoSubscription, StoreError> {
    let failed = failed("subscribing automatically");
    let (user, listener) = (wanted.user_id.as_str(), wanted.listener.as_str());
    let channel = wanted.channel.name();
    connection
        .execute_prepared(
            "INSERT INTO auto_subscriptions (id, user_id, listener, channel) VALUES (?, ?, ?, ?)
             ON CONFLICT (user_id, listener, channel) DO NOTHING",
            [wanted.id.as_str(), user, listener, channel],
        )
        .map_err(&failed)?;
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM auto_subscriptions WHERE user_id = ? AND listener = ? AND channel = ?",
        )
        .map_err(&failed)?;
    let mut rows = statement
        .query([user, listener, channel])
        .map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    auto_subscription(row.ok_or_else(|| {
        StoreError::Corrupt("an automatic subscription just written is not there".to_owned())
    })?)
}

pub(crate) fn delete(connection: &Connection, like: &AutoSubscription) -> Result<bool, StoreError> {
    let deleted = connection
        .execute_prepared(
            "DELETE FROM auto_subscriptions WHERE user_id = ? AND listener = ? AND channel = ?",
            [
                like.user_id.as_str(),
                like.listener.as_str(),
                like.channel.name(),
            ],
        )
        .map_err(failed("unsubscribing automatically"))?;
    Ok(deleted > 0)
}

fn auto_subscription(row: &Row<'_>) -> Result<AutoSubscription, StoreError> {
    Ok(AutoSubscription {
        id: parsed(row, "id")?,
        user_id: parsed(row, "user_id")?,
        listener: parsed(row, "listener")?,
        channel: Channel::named(get::<String>(row, "channel")?),
    })
}

/// Whether user `?1` may see the listener. A workflow need not be there yet; dispatch asks about it.
const MAY_BE_SEEN: &str = "(listener LIKE 'p!_%' ESCAPE '!' OR EXISTS (
    SELECT 1 FROM (SELECT id, user_id, workspace_id FROM sources
                   UNION ALL SELECT id, user_id, workspace_id FROM webhooks) AS found
    WHERE found.id = listener
      AND (found.user_id = ?1
           OR found.workspace_id IN (SELECT workspace_id FROM memberships WHERE user_id = ?1))))";

/// Subscribes the listeners of its user's automatic subscriptions to a source or workflow that is being created.
pub(crate) fn subscribe(
    connection: &Connection,
    (emitter, owner): (&str, &Owner),
    created_at_ms: EpochMs,
) -> Result<(), StoreError> {
    let failed = failed("subscribing automatically");
    let user = owner.user_id.as_str();
    let seeds: Vec<Seed> = {
        let mut statement = connection
            .prepare_cached(&format!(
                "UPDATE auto_subscriptions SET made = made + 1
                 WHERE user_id = ?1 AND listener <> ?2 AND {MAY_BE_SEEN}
                 RETURNING position, made"
            ))
            .map_err(&failed)?;
        let rows = statement
            .query_map([user, emitter], |row| {
                Ok(Seed {
                    row: row.get(0)?,
                    number: row.get(1)?,
                })
            })
            .map_err(&failed)?;
        rows.collect::<Result<_, _>>().map_err(&failed)?
    };
    for seed in seeds {
        let id = derived_id::subscription(created_at_ms, seed);
        connection
            .execute_prepared(
                "INSERT INTO subscriptions (id, user_id, emitter, listener, channel, since)
                 SELECT ?, user_id, ?, listener, channel,
                        coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)
                 FROM auto_subscriptions WHERE position = ?",
                params![id.as_str(), emitter, seed.row],
            )
            .map_err(&failed)?;
    }
    Ok(())
}
