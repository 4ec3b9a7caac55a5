//! The room for queued events of an owner's sources, and the report when it is used up.

use std::collections::HashMap;

use headwater_model::{event, time::EpochMs};
use headwater_store::{QUEUED_EVENT_BYTES, StoreError};

use crate::{
    append,
    connection::{Connection, failed},
    dispatch::passing::{Passing, logged},
    row::get,
};

/// Room for one owner within a step.
struct Room {
    invocations: i64,
    bytes: i64,
    told: bool,
}

/// The source that an event is to be queued for.
pub(super) struct ListeningSource<'a> {
    pub(super) id: &'a str,
    pub(super) owner: &'a str,
}

/// Room per owner, read once per step, all of whose statements see the same moment.
pub(super) struct Rooms {
    queued_max: u32,
    by_owner: HashMap<String, Room>,
}

impl Rooms {
    pub(super) fn new(queued_max: u32) -> Self {
        Self {
            queued_max: queued_max.max(1),
            by_owner: HashMap::new(),
        }
    }

    /// Whether the queue of that owner has room for an event.
    pub(super) async fn is_free(
        &mut self,
        connection: &Connection,
        owner: &str,
    ) -> Result<bool, StoreError> {
        if !self.by_owner.contains_key(owner) {
            let room = read(connection, owner, self.queued_max).await?;
            self.by_owner.insert(owner.to_owned(), room);
        }
        Ok(self.by_owner.get(owner).is_some_and(Room::is_free))
    }

    /// Takes room for the event in the queue of the listener's owner. False: the queue is full, which was reported on
    /// the listener's `$errors` once.
    pub(super) async fn take(
        &mut self,
        connection: &Connection,
        event: &Passing,
        to: ListeningSource<'_>,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        let ListeningSource { id, owner } = to;
        if !self.by_owner.contains_key(owner) {
            let room = read(connection, owner, self.queued_max).await?;
            self.by_owner.insert(owner.to_owned(), room);
        }
        let Some(room) = self.by_owner.get_mut(owner) else {
            return Ok(false);
        };
        if room.is_free() {
            room.invocations -= 1;
            room.bytes -= i64::try_from(event.bytes).unwrap_or(i64::MAX);
            return Ok(true);
        }
        if !room.told {
            room.told = true;
            note(connection, owner, true).await?;
            report_full(connection, event, id, self.queued_max, now_ms).await?;
        }
        Ok(false)
    }
}

impl Room {
    fn is_free(&self) -> bool {
        self.invocations > 0 && self.bytes > 0
    }
}

/// Reads the free room. A full queue is not reported again until half of its room is free, so that it is not reported
/// whenever a single event finds room.
async fn read(connection: &Connection, owner: &str, queued_max: u32) -> Result<Room, StoreError> {
    let queued = connection
        .query_opt(
            "SELECT invocations, bytes, told FROM queued_events WHERE owner_id = $1",
            &[&owner],
        )
        .await
        .map_err(failed("looking for room in a queue"))?;
    let (invocations, bytes, told): (i64, i64, bool) = match &queued {
        None => Default::default(),
        Some(row) => (
            get(row, "invocations")?,
            get(row, "bytes")?,
            get(row, "told")?,
        ),
    };
    let bytes_max = i64::from(queued_max) * QUEUED_EVENT_BYTES;
    let mut room = Room {
        invocations: i64::from(queued_max) - invocations,
        bytes: bytes_max - bytes,
        told,
    };
    if told && room.invocations > i64::from(queued_max) / 2 && room.bytes > bytes_max / 2 {
        room.told = false;
        note(connection, owner, false).await?;
    }
    Ok(room)
}

async fn note(connection: &Connection, owner: &str, told: bool) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO queued_events (owner_id, invocations, bytes, told) VALUES ($1, 0, 0, $2)
             ON CONFLICT (owner_id) DO UPDATE SET told = excluded.told",
            &[&owner, &told],
        )
        .await
        .map_err(failed("noting that a queue is full"))
        .map(drop)
}

async fn report_full(
    connection: &Connection,
    event: &Passing,
    listener: &str,
    queued_max: u32,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let Some((id, _)) = logged(connection, event.position).await? else {
        return Ok(());
    };
    let error = event::queue_full_error(&event.emitter, id, &event.channel, queued_max, event.hops);
    append::alone(connection, listener, None, &[error], now_ms).await
}
