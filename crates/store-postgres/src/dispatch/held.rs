//! Subscriptions of workflows that had no room for an event, and up to which event each has been passed on. Not
//! responsible for passing on.

use std::collections::BTreeMap;

use headwater_store::StoreError;

use crate::{
    connection::{Connection, failed},
    row::get,
};

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
    pub(super) async fn read(connection: &Connection) -> Result<Self, StoreError> {
        let rows = connection
            .query(
                "SELECT subscription, listener, position FROM held_subscriptions",
                &[],
            )
            .await
            .map_err(failed("looking for subscriptions that wait"))?;
        let mut held = BTreeMap::new();
        for row in &rows {
            let waiting = Waiting {
                listener: get(row, "listener")?,
                position: get(row, "position")?,
            };
            held.insert(get(row, "subscription")?, waiting);
        }
        Ok(Self(held))
    }
}

/// The position up to which nobody who is held needs the events of an emitter; `None`: nobody is held.
pub(crate) async fn up_to(
    connection: &Connection,
    emitter: &str,
) -> Result<Option<i64>, StoreError> {
    connection
        .value(
            "SELECT min(held.position)
             FROM held_subscriptions AS held JOIN subscriptions ON subscriptions.position = held.subscription
                  JOIN emitters ON emitters.emitter_id = $1
             WHERE subscriptions.emitter IN ($1, emitters.user_id, emitters.workspace_id)
                OR (subscriptions.emitter IN ('dc_*', 'p_*') AND subscriptions.user_id = emitters.user_id)",
            &[&emitter],
        )
        .await
        .map_err(failed("looking for subscriptions that wait"))
}

/// Notes that a subscription is held.
pub(super) async fn insert(
    connection: &Connection,
    subscription: i64,
    waiting: &Waiting,
) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO held_subscriptions (subscription, listener, position) VALUES ($1, $2, $3)",
            &[&subscription, &waiting.listener, &waiting.position],
        )
        .await
        .map_err(failed("holding a subscription"))
        .map(drop)
}

/// Moves a subscription that is held to another event; without one, it is held no longer.
pub(super) async fn write(
    connection: &Connection,
    subscription: i64,
    position: Option<i64>,
) -> Result<(), StoreError> {
    let written = match position {
        Some(position) => {
            connection
                .execute(
                    "UPDATE held_subscriptions SET position = $1 WHERE subscription = $2",
                    &[&position, &subscription],
                )
                .await
        }
        None => {
            connection
                .execute(
                    "DELETE FROM held_subscriptions WHERE subscription = $1",
                    &[&subscription],
                )
                .await
        }
    };
    written
        .map_err(failed("moving a subscription that waits"))
        .map(drop)
}

/// Whether the subscription is there still.
pub(super) async fn is_there(
    connection: &Connection,
    subscription: i64,
    listener: &str,
) -> Result<bool, StoreError> {
    connection
        .exists(
            "SELECT 1 FROM subscriptions WHERE position = $1 AND listener = $2",
            &[&subscription, &listener],
        )
        .await
        .map_err(failed("looking for subscriptions that wait"))
}
