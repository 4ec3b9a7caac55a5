//! The progress of dispatch. Not responsible for events or listeners.

use headwater_store::StoreError;

use crate::{
    connection::{Connection, failed},
    row::get,
};

/// Every event up to `position` is passed, and possibly part of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) position: i64,
    pub(super) partial: Partial,
}

/// An event that is passed to its listeners up to a subscription.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Partial {
    pub(super) event: i64,
    pub(super) subscription: i64,
    /// Whether the event's hop limit was reported.
    pub(super) told: bool,
}

impl Cursor {
    pub(super) async fn read(connection: &Connection) -> Result<Self, StoreError> {
        let row = connection
            .query_one(
                "SELECT position, partial_event, partial_subscription, partial_told FROM dispatch_cursor",
                &[],
            )
            .await
            .map_err(failed("reading the dispatch cursor"))?;
        Ok(Self {
            position: get(&row, "position")?,
            partial: Partial {
                event: get(&row, "partial_event")?,
                subscription: get(&row, "partial_subscription")?,
                told: get(&row, "partial_told")?,
            },
        })
    }

    /// The cursor after all of that event is passed.
    pub(super) fn behind(position: i64) -> Self {
        Self {
            position,
            partial: Partial::default(),
        }
    }

    /// The subscription up to which the event was passed before. The event that a former step stopped in may be
    /// deleted.
    pub(super) fn partial_of(&self, event: i64) -> Partial {
        match self.partial.event == event {
            true => self.partial,
            false => Partial {
                event,
                ..Partial::default()
            },
        }
    }

    pub(super) async fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        let Partial {
            event,
            subscription,
            told,
        } = self.partial;
        connection
            .execute(
                "UPDATE dispatch_cursor
                 SET position = $1, partial_event = $2, partial_subscription = $3, partial_told = $4",
                &[&self.position, &event, &subscription, &told],
            )
            .await
            .map_err(failed("moving the dispatch cursor"))
            .map(drop)
    }
}
