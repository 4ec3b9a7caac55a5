//! Requested deletions of events.

use headwater_model::{channel::ChannelClass, id::EventId, time::EpochMs};
use headwater_store::{ChannelFilter, EventDeletion, Progress, StoreError};

use crate::{
    connection::{Connection, failed},
    counted_events,
    row::{get, signed},
};

/// Dispatch never reads these from `$in`, so that they may be deleted before it has passed them.
const SCHEDULED: u8 = ChannelClass::Scheduled.code();

pub(crate) async fn request(
    connection: &Connection,
    deletion: &EventDeletion,
) -> Result<(), StoreError> {
    let (class, channel) = match &deletion.channels {
        ChannelFilter::Class(class) => (*class, None),
        ChannelFilter::Named(channel) => (channel.class(), Some(channel.name())),
    };
    let start = deletion.range.start.unwrap_or_default();
    let end = deletion.range.end.unwrap_or(EventId {
        ms: EpochMs(i64::MAX as u64),
        sequence: u32::MAX,
    });
    let id: i64 = connection
        .value(
            "INSERT INTO deletions (emitter_id, class, channel, start_ms, start_sequence, end_ms, end_sequence,
                                    up_to_position)
             VALUES ($1, $2, $3, $4, $5, $6, $7, (SELECT coalesce(max(position), 0) FROM events))
             RETURNING id",
            &[
                &deletion.emitter.as_str(),
                &signed(class.code()),
                &channel,
                &signed(start.ms),
                &signed(start.sequence),
                &signed(end.ms),
                &signed(end.sequence),
            ],
        )
        .await
        .map_err(failed("requesting a deletion"))?;
    if class == ChannelClass::Scheduled {
        // A scheduled event that was cancelled must not be released meanwhile.
        while delete_covered(connection, id, u32::MAX).await? > 0 {}
        finish(connection, id).await?;
    }
    Ok(())
}

/// Whether a step has anything to look at.
pub(crate) async fn is_requested(connection: &Connection) -> Result<bool, StoreError> {
    Ok(!requested(connection, 1).await?.is_empty())
}

pub(crate) async fn run(connection: &Connection, limit: u32) -> Result<Progress, StoreError> {
    let (mut left, mut finished) = (limit, 0);
    let requested = requested(connection, limit).await?;
    for id in &requested {
        let deleted = delete_covered(connection, *id, left).await?;
        if deleted < left {
            finished += finish(connection, *id).await?;
        }
        left -= deleted;
        if left == 0 {
            break;
        }
    }
    Ok(Progress {
        done: u64::from(limit - left),
        // Events held back by dispatch are not a reason to be called again at once.
        more: left == 0 || (finished > 0 && requested.len() == limit as usize),
        ..Progress::default()
    })
}

async fn requested(connection: &Connection, limit: u32) -> Result<Vec<i64>, StoreError> {
    let failed = failed("looking for deletions");
    let rows = connection
        .query(
            "SELECT id FROM deletions ORDER BY id LIMIT $1",
            &[&signed(limit)],
        )
        .await
        .map_err(&failed)?;
    rows.iter().map(|row| get(row, "id")).collect()
}

/// Ends a deletion whose events are gone. Until dispatch has passed them all, it stays and hides them.
async fn finish(connection: &Connection, id: i64) -> Result<u64, StoreError> {
    connection
        .execute(
            &format!(
                "DELETE FROM deletions
                 WHERE id = $1 AND (class = {SCHEDULED} OR up_to_position <= (SELECT position FROM dispatch_cursor))"
            ),
            &[&id],
        )
        .await
        .map_err(failed("finishing a deletion"))
}

/// Deletes events that the deletion covers; fewer than `limit` means that none is left.
async fn delete_covered(connection: &Connection, id: i64, limit: u32) -> Result<u32, StoreError> {
    let covered = format!(
        "position = ANY (ARRAY(
             SELECT events.position
             FROM deletions JOIN events ON events.emitter_id = deletions.emitter_id
                  AND events.class = deletions.class
                  AND (events.ms, events.sequence) >= (start_ms, start_sequence)
                  AND (events.ms, events.sequence) <= (end_ms, end_sequence)
             WHERE deletions.id = $1
               AND (deletions.channel IS NULL OR events.channel = deletions.channel)
               AND events.position <= up_to_position
               AND (events.class = {SCHEDULED} OR events.position <= (SELECT position FROM dispatch_cursor))
             LIMIT $2))",
    );
    let deleted = counted_events::delete(connection, &covered, &[&id, &signed(limit)]).await?;
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}
