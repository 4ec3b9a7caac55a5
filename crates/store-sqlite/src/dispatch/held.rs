//! Subscriptions of workflows that had no room for an event, and up to which event each has been passed on. Not
//! responsible for passing on.

use std::collections::BTreeMap;

use headwater_store::StoreError;
use rusqlite::Connection;

use crate::connection::{ExecutePrepared as _, failed};

/// The subscriptions that are held, by position.
#[derive(Default)]
pub(super) struct Held(pub(super) BTreeMap<i64, Waiting>);

/// A subscription that is held.
pub(super) struct Waiting {
    pub(super) listener: String,
    /// Every event up to here has been passed on.
    pub(super) position: i64,
}

impl Held {
    pub(super) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let failed = failed("looking for subscriptions that wait");
        let mut statement = connection
            .prepare_cached("SELECT subscription, listener, position FROM held_subscriptions")
            .map_err(&failed)?;
        let rows = statement
            .query_map((), |row| {
                let waiting = Waiting {
                    listener: row.get(1)?,
                    position: row.get(2)?,
                };
                Ok((row.get(0)?, waiting))
            })
            .map_err(&failed)?;
        Ok(Self(rows.collect::<Result<_, _>>().map_err(&failed)?))
    }
}

/// The position up to which nobody who is held needs the events of an emitter; `None`: nobody is held.
pub(crate) fn up_to(connection: &Connection, emitter: &str) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached(
            "SELECT min(held.position)
             FROM held_subscriptions AS held JOIN subscriptions ON subscriptions.position = held.subscription
                  JOIN emitters ON emitters.emitter_id = ?1
             WHERE subscriptions.emitter IN (?1, emitters.user_id, emitters.workspace_id)
                OR (subscriptions.emitter IN ('dc_*', 'p_*') AND subscriptions.user_id = emitters.user_id)",
        )
        .and_then(|mut statement| statement.query_row([emitter], |row| row.get(0)))
        .map_err(failed("looking for subscriptions that wait"))
}

/// Notes that a subscription is held.
pub(super) fn insert(
    connection: &Connection,
    subscription: i64,
    waiting: &Waiting,
) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "INSERT INTO held_subscriptions (subscription, listener, position) VALUES (?, ?, ?)",
            (subscription, &waiting.listener, waiting.position),
        )
        .map_err(failed("holding a subscription"))
        .map(drop)
}

/// Moves a subscription that is held to another event; without one, it is held no longer.
pub(super) fn write(
    connection: &Connection,
    subscription: i64,
    position: Option<i64>,
) -> Result<(), StoreError> {
    let written = match position {
        Some(position) => connection.execute_prepared(
            "UPDATE held_subscriptions SET position = ? WHERE subscription = ?",
            (position, subscription),
        ),
        None => connection.execute_prepared(
            "DELETE FROM held_subscriptions WHERE subscription = ?",
            [subscription],
        ),
    };
    written
        .map_err(failed("moving a subscription that waits"))
        .map(drop)
}

/// Whether the subscription is there still. Its position may be another one's now.
pub(super) fn is_there(
    connection: &Connection,
    subscription: i64,
    listener: &str,
) -> Result<bool, StoreError> {
    connection
        .prepare_cached("SELECT 1 FROM subscriptions WHERE position = ? AND listener = ?")
        .and_then(|mut statement| statement.exists((subscription, listener)))
        .map_err(failed("looking for subscriptions that wait"))
}
