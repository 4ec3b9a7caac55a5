//! The rows of subscriptions.

use headwater_model::{channel::Channel, subscription::Subscription};
use headwater_store::{StoreError, SubscriptionFilter};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    positions::LAST,
    row::{get, parsed, signed},
};

/// The subscription of the same user, ends and channel, `$1` to `$4`.
const EQUAL: &str = "user_id = $1 AND emitter = $2 AND listener = $3
                     AND hash_of(channel) = hash_of($4) AND channel = $4";

pub(crate) async fn create(
    connection: &Connection,
    wanted: &Subscription,
) -> Result<Subscription, StoreError> {
    let failed = failed("subscribing");
    let (user, emitter) = (wanted.user_id.as_str(), wanted.emitter.to_string());
    let (listener, channel) = (wanted.listener.as_str(), wanted.channel.name());
    connection
        .execute(
            &format!(
                "INSERT INTO subscriptions (id, user_id, emitter, listener, channel, since)
             VALUES ($1, $2, $3, $4, $5, {LAST})
             ON CONFLICT (user_id, emitter, listener, hash_of(channel)) DO NOTHING"
            ),
            &[&wanted.id.as_str(), &user, &emitter, &listener, &channel],
        )
        .await
        .map_err(&failed)?;
    let rows = connection
        .query(
            &format!("SELECT * FROM subscriptions WHERE {EQUAL}"),
            &[&user, &emitter, &listener, &channel],
        )
        .await
        .map_err(&failed)?;
    let row = rows.first();
    subscription(row.ok_or_else(|| {
        StoreError::Corrupt("a subscription just written is not there".to_owned())
    })?)
}

pub(crate) async fn delete(
    connection: &Connection,
    like: &Subscription,
) -> Result<bool, StoreError> {
    let deleted = connection
        .execute(
            &format!("DELETE FROM subscriptions WHERE {EQUAL}"),
            &[
                &like.user_id.as_str(),
                &like.emitter.to_string(),
                &like.listener.as_str(),
                &like.channel.name(),
            ],
        )
        .await
        .map_err(failed("unsubscribing"))?;
    Ok(deleted > 0)
}

pub(crate) async fn listed(
    connection: &Connection,
    filter: &SubscriptionFilter,
    limit: u32,
) -> Result<Vec<Subscription>, StoreError> {
    let failed = failed("reading subscriptions");
    let (condition, id) = match filter {
        SubscriptionFilter::User(id) => ("user_id = $1", id.as_str()),
        SubscriptionFilter::Workspace(id) => (
            "position IN (
                 SELECT position FROM subscriptions WHERE emitter = $1
                 UNION SELECT position FROM sources JOIN subscriptions ON emitter = sources.id WHERE workspace_id = $1
                 UNION SELECT position FROM sources JOIN subscriptions ON listener = sources.id WHERE workspace_id = $1
                 UNION SELECT position FROM workflows JOIN subscriptions ON emitter = workflows.id
                       WHERE workspace_id = $1
                 UNION SELECT position FROM workflows JOIN subscriptions ON listener = workflows.id
                       WHERE workspace_id = $1
                 UNION SELECT position FROM webhooks JOIN subscriptions ON listener = webhooks.id
                       WHERE workspace_id = $1)",
            id.as_str(),
        ),
    };
    let rows = connection
        .query(
            &format!("SELECT * FROM subscriptions WHERE {condition} ORDER BY position LIMIT $2"),
            &[&id, &signed(limit)],
        )
        .await
        .map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(subscription(row)?);
    }
    Ok(found)
}

fn subscription(row: &Row) -> Result<Subscription, StoreError> {
    Ok(Subscription {
        id: parsed(row, "id")?,
        user_id: parsed(row, "user_id")?,
        emitter: parsed(row, "emitter")?,
        listener: parsed(row, "listener")?,
        channel: Channel::named(get::<String>(row, "channel")?),
    })
}
