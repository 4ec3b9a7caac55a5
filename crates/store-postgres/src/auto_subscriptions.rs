//! Automatic subscriptions: written once, they subscribe their listener to each source and workflow that their user
//! creates later.

use headwater_model::{channel::Channel, subscription::AutoSubscription, time::EpochMs};
use headwater_store::{
    Owner, StoreError,
    derived_id::{self, Seed},
};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    positions::LAST,
    row::{get, parsed},
};

/// The automatic subscription of the same user, listener and channel, `$1` to `$3`.
const EQUAL: &str =
    "user_id = $1 AND listener = $2 AND hash_of(channel) = hash_of($3) AND channel = $3";

pub(crate) async fn create(
    connection: &Connection,
    wanted: &AutoSubscription,
) -> Result<AutoSubscription, StoreError> {
    let failed = failed("subscribing automatically");
    let (user, listener) = (wanted.user_id.as_str(), wanted.listener.as_str());
    let channel = wanted.channel.name();
    connection
        .execute(
            "INSERT INTO auto_subscriptions (id, user_id, listener, channel) VALUES ($1, $2, $3, $4)
             ON CONFLICT (user_id, listener, hash_of(channel)) DO NOTHING",
            &[&wanted.id.as_str(), &user, &listener, &channel],
        )
        .await
        .map_err(&failed)?;
    let rows = connection
        .query(
            &format!("SELECT * FROM auto_subscriptions WHERE {EQUAL}"),
            &[&user, &listener, &channel],
        )
        .await
        .map_err(&failed)?;
    let row = rows.first();
    auto_subscription(row.ok_or_else(|| {
        StoreError::Corrupt("an automatic subscription just written is not there".to_owned())
    })?)
}

pub(crate) async fn delete(
    connection: &Connection,
    like: &AutoSubscription,
) -> Result<bool, StoreError> {
    let deleted = connection
        .execute(
            &format!("DELETE FROM auto_subscriptions WHERE {EQUAL}"),
            &[
                &like.user_id.as_str(),
                &like.listener.as_str(),
                &like.channel.name(),
            ],
        )
        .await
        .map_err(failed("unsubscribing automatically"))?;
    Ok(deleted > 0)
}

fn auto_subscription(row: &Row) -> Result<AutoSubscription, StoreError> {
    Ok(AutoSubscription {
        id: parsed(row, "id")?,
        user_id: parsed(row, "user_id")?,
        listener: parsed(row, "listener")?,
        channel: Channel::named(get::<String>(row, "channel")?),
    })
}

/// Whether user `$1` may see the listener. A workflow need not be there yet; dispatch asks about it.
const MAY_BE_SEEN: &str = "(listener LIKE 'p!_%' ESCAPE '!' OR EXISTS (
    SELECT 1 FROM (SELECT id, user_id, workspace_id FROM sources
                   UNION ALL SELECT id, user_id, workspace_id FROM webhooks) AS found
    WHERE found.id = listener
      AND (found.user_id = $1
           OR found.workspace_id IN (SELECT workspace_id FROM memberships WHERE user_id = $1))))";

/// Subscribes the listeners of its user's automatic subscriptions to a source or workflow that is being created.
pub(crate) async fn subscribe(
    connection: &Connection,
    (emitter, owner): (&str, &Owner),
    created_at_ms: EpochMs,
) -> Result<(), StoreError> {
    let failed = failed("subscribing automatically");
    let user = owner.user_id.as_str();
    let rows = connection
        .query(
            &format!(
                "UPDATE auto_subscriptions SET made = made + 1
                 WHERE user_id = $1 AND listener <> $2 AND {MAY_BE_SEEN}
                 RETURNING position, made"
            ),
            &[&user, &emitter],
        )
        .await
        .map_err(&failed)?;
    for row in &rows {
        let seed = Seed {
            row: get(row, "position")?,
            number: get(row, "made")?,
        };
        let id = derived_id::subscription(created_at_ms, seed);
        connection
            .execute(
                &format!(
                    "INSERT INTO subscriptions (id, user_id, emitter, listener, channel, since)
                 SELECT $1, user_id, $2, listener, channel,
                        {LAST}
                 FROM auto_subscriptions WHERE position = $3"
                ),
                &[&id.as_str(), &emitter, &seed.row],
            )
            .await
            .map_err(&failed)?;
    }
    Ok(())
}
