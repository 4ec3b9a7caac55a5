//! Delivered events as rows keep them.

use headwater_model::{channel::Channel, id::EventId};
use headwater_store::{DeliveredEvent, StoreError};
use tokio_postgres::Row;

use crate::row::{get, parsed, raw, trace, unsigned};

/// The columns of `delivered_events`.
pub(super) fn of(row: &Row) -> Result<DeliveredEvent, StoreError> {
    Ok(DeliveredEvent {
        emitter: parsed(row, "emitter_id")?,
        id: EventId {
            ms: unsigned(row, "ms")?,
            sequence: unsigned(row, "sequence")?,
        },
        channel: Channel::named(get::<String>(row, "channel")?),
        event: raw(row, "event")?,
        trace: trace(row)?,
    })
}
