//! The rows of subscriptions.

use headwater_model::{channel::Channel, subscription::Subscription};
use headwater_store::{StoreError, SubscriptionFilter};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::{get, parsed},
};

pub(crate) fn create(
    connection: &Connection,
    wanted: &Subscription,
) -> Result<Subscription, StoreError> {
    let failed = failed("subscribing");
    let (user, emitter) = (wanted.user_id.as_str(), wanted.emitter.to_string());
    let (listener, channel) = (wanted.listener.as_str(), wanted.channel.name());
    connection
        .execute_prepared(
            "INSERT INTO subscriptions (id, user_id, emitter, listener, channel, since)
             VALUES (?, ?, ?, ?, ?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0))
             ON CONFLICT (user_id, emitter, listener, channel) DO NOTHING",
            params![wanted.id.as_str(), user, emitter, listener, channel],
        )
        .map_err(&failed)?;
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM subscriptions WHERE user_id = ? AND emitter = ? AND listener = ? AND channel = ?",
        )
        .map_err(&failed)?;
    let mut rows = statement
        .query([user, &emitter, listener, channel])
        .map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    subscription(row.ok_or_else(|| {
        StoreError::Corrupt("a subscription just written is not there".to_owned())
    })?)
}

pub(crate) fn delete(connection: &Connection, like: &Subscription) -> Result<bool, StoreError> {
    let deleted = connection
        .execute_prepared(
            "DELETE FROM subscriptions WHERE user_id = ? AND emitter = ? AND listener = ? AND channel = ?",
            [like.user_id.as_str(), &like.emitter.to_string(), like.listener.as_str(), like.channel.name()],
        )
        .map_err(failed("unsubscribing"))?;
    Ok(deleted > 0)
}

pub(crate) fn listed(
    connection: &Connection,
    filter: &SubscriptionFilter,
    limit: u32,
) -> Result<Vec<Subscription>, StoreError> {
    let failed = failed("reading subscriptions");
    let (condition, id) = match filter {
        SubscriptionFilter::User(id) => ("user_id = ?1", id.as_str()),
        SubscriptionFilter::Workspace(id) => (
            "position IN (
                 SELECT position FROM subscriptions WHERE emitter = ?1
                 UNION SELECT position FROM sources JOIN subscriptions ON emitter = sources.id WHERE workspace_id = ?1
                 UNION SELECT position FROM sources JOIN subscriptions ON listener = sources.id WHERE workspace_id = ?1
                 UNION SELECT position FROM workflows JOIN subscriptions ON emitter = workflows.id WHERE workspace_id = ?1
                 UNION SELECT position FROM workflows JOIN subscriptions ON listener = workflows.id WHERE workspace_id = ?1
                 UNION SELECT position FROM webhooks JOIN subscriptions ON listener = webhooks.id WHERE workspace_id = ?1)",
            id.as_str(),
        ),
    };
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT * FROM subscriptions WHERE {condition} ORDER BY position LIMIT ?2"
        ))
        .map_err(&failed)?;
    let mut rows = statement.query(params![id, limit]).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(subscription(row)?);
    }
    Ok(found)
}

fn subscription(row: &Row<'_>) -> Result<Subscription, StoreError> {
    Ok(Subscription {
        id: parsed(row, "id")?,
        user_id: parsed(row, "user_id")?,
        emitter: parsed(row, "emitter")?,
        listener: parsed(row, "listener")?,
        channel: Channel::named(get::<String>(row, "channel")?),
    })
}
