//! Subscriptions.

use async_trait::async_trait;
use headwater_model::{channel::Channel, id::UserId, subscription::Subscription};
use headwater_store::{StoreError, Subscriptions};
use rusqlite::{Connection, Row, params};

use crate::{
    SqliteStore,
    connection::failed,
    row::{get, parsed},
};

#[async_trait]
impl Subscriptions for SqliteStore {
    async fn subscribe(&self, subscription: Subscription) -> Result<Subscription, StoreError> {
        self.write(move |connection| subscribe(connection, &subscription))
            .await
    }

    async fn unsubscribe(&self, like: &Subscription) -> Result<bool, StoreError> {
        let like = like.clone();
        self.write(move |connection| unsubscribe(connection, &like))
            .await
    }

    async fn subscriptions(
        &self,
        user_id: &UserId,
        limit: u32,
    ) -> Result<Vec<Subscription>, StoreError> {
        let user_id = user_id.clone();
        self.read(move |connection| of_user(connection, user_id.as_str(), limit))
            .await
    }
}

fn subscribe(connection: &Connection, wanted: &Subscription) -> Result<Subscription, StoreError> {
    let failed = failed("subscribing");
    let (user, emitter) = (wanted.user_id.as_str(), wanted.emitter.to_string());
    let (listener, channel) = (wanted.listener.as_str(), wanted.channel.name());
    connection
        .execute(
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

fn unsubscribe(connection: &Connection, like: &Subscription) -> Result<bool, StoreError> {
    let deleted = connection
        .execute(
            "DELETE FROM subscriptions WHERE user_id = ? AND emitter = ? AND listener = ? AND channel = ?",
            [like.user_id.as_str(), &like.emitter.to_string(), like.listener.as_str(), like.channel.name()],
        )
        .map_err(failed("unsubscribing"))?;
    Ok(deleted > 0)
}

fn of_user(
    connection: &Connection,
    user: &str,
    limit: u32,
) -> Result<Vec<Subscription>, StoreError> {
    let failed = failed("reading subscriptions");
    let mut statement = connection
        .prepare_cached("SELECT * FROM subscriptions WHERE user_id = ? ORDER BY position LIMIT ?")
        .map_err(&failed)?;
    let mut rows = statement.query(params![user, limit]).map_err(&failed)?;
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
