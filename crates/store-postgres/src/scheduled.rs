//! Releasing scheduled events: from `$in` to their channel, when they are due.

use headwater_model::{channel::Channel, event::NewEvent, time::EpochMs};
use headwater_store::{Progress, StoreError};
use tokio_postgres::Row;

use crate::{
    append,
    connection::{Connection, failed},
    counted_events,
    row::{get, json_opt, moment, raw, signed, trace, unsigned},
};

struct Due {
    position: i64,
    emitter: String,
    run_id: Option<String>,
    event: NewEvent,
}

pub(crate) async fn release(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
) -> Result<Progress, StoreError> {
    let due = due(connection, now_ms, limit).await?;
    for Due {
        position,
        emitter,
        run_id,
        event,
    } in &due
    {
        counted_events::delete(connection, "position = $1", &[position]).await?;
        append::alone(
            connection,
            emitter,
            run_id.as_deref(),
            std::slice::from_ref(event),
            now_ms,
        )
        .await?;
    }
    let more = due.len() == limit as usize;
    Ok(Progress {
        done: due.len() as u64,
        more,
        next_due_ms: next_due(connection).await?,
        ..Progress::default()
    })
}

async fn due(connection: &Connection, now_ms: EpochMs, limit: u32) -> Result<Vec<Due>, StoreError> {
    let failed = failed("looking for scheduled events");
    let rows = connection
        .query(
            "SELECT * FROM events WHERE deliver_at_ms IS NOT NULL AND deliver_at_ms <= $1
             ORDER BY deliver_at_ms, position LIMIT $2",
            &[&signed(now_ms), &signed(limit)],
        )
        .await
        .map_err(&failed)?;
    let mut due = Vec::new();
    for row in &rows {
        due.push(Due {
            position: get(row, "position")?,
            emitter: get(row, "emitter_id")?,
            run_id: get(row, "run_id")?,
            event: released(row)?,
        });
    }
    Ok(due)
}

fn released(row: &Row) -> Result<NewEvent, StoreError> {
    Ok(NewEvent {
        channel: Channel::named(get::<Option<String>>(row, "deliver_channel")?.unwrap_or_default()),
        event: raw(row, "event")?,
        key: json_opt(row, "key")?,
        summary: get(row, "summary")?,
        ts: get(row, "ts")?,
        scheduled: None,
        hops: unsigned(row, "hops")?,
        trace: trace(row)?,
    })
}

pub(crate) async fn next_due(connection: &Connection) -> Result<Option<EpochMs>, StoreError> {
    let next: Option<i64> = connection
        .value_opt(
            "SELECT deliver_at_ms FROM events WHERE deliver_at_ms IS NOT NULL ORDER BY deliver_at_ms LIMIT 1",
            &[],
        )
        .await
        .map_err(failed("looking for scheduled events"))?;
    Ok(next.map(moment))
}
