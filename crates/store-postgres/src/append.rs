//! Appending to the event log: increasing ids, and notes for trimming.

use headwater_model::{event::NewEvent, id::EventId, time::EpochMs};
use headwater_store::{StoreError, classes_of};

use crate::{
    connection::{Connection, failed},
    counted_events::Change,
    emitters::{self, Moved},
    positions,
    row::{list, signed, to_json},
};

/// An event at its place in the log of its emitter.
pub(crate) struct Appended<'a> {
    emitter: &'a str,
    id: EventId,
    /// The run that emits it, if any.
    run_id: Option<&'a str>,
    event: &'a NewEvent,
    now_ms: EpochMs,
}

/// Gives events the next ids of their emitter, of which `last` is the last one, and the new last one then.
pub(crate) fn placed<'a>(
    (emitter, last): (&'a str, &mut Option<EventId>),
    run_id: Option<&'a str>,
    events: &'a [NewEvent],
    now_ms: EpochMs,
) -> impl Iterator<Item = Appended<'a>> {
    events.iter().map(move |event| {
        let id = EventId::next(*last, now_ms);
        *last = Some(id);
        Appended {
            emitter,
            id,
            run_id,
            event,
            now_ms,
        }
    })
}

/// Appends events to an emitter's log outside of a commit, with the next ids. `run_id`: their run, if any.
pub(crate) async fn alone(
    connection: &Connection,
    emitter: &str,
    run_id: Option<&str>,
    events: &[NewEvent],
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let mut last = emitters::last_id(connection, emitter).await?;
    let placed: Vec<_> = placed((emitter, &mut last), run_id, events, now_ms).collect();
    if !placed.is_empty() {
        positions::await_turn(connection).await?;
    }
    insert(connection, &placed).await?;
    let moved = Moved {
        emitter,
        last,
        dedupe: None,
        events: Change::appended(events),
    };
    emitters::move_on(connection, &[moved]).await?;
    let classes = classes_of(events).into_iter();
    let noted: Vec<_> = classes.map(|class| (emitter, class)).collect();
    note_untrimmed(connection, &noted).await
}

/// Writes events in their order. The transaction has its turn.
pub(crate) async fn insert(
    connection: &Connection,
    events: &[Appended<'_>],
) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let keys = events
        .iter()
        .map(|row| row.event.key.as_ref().map(to_json).transpose());
    let keys: Vec<Option<String>> = keys.collect::<Result<_, _>>()?;
    connection
        .execute(
            "INSERT INTO events (emitter_id, ms, sequence, class, channel, event, key, summary, ts, hops,
                                 indexed_at_ms, deliver_at_ms, deliver_channel, traceparent, run_id)
             SELECT emitter_id, ms, sequence, class, channel, event, key, summary, ts, hops,
                    indexed_at_ms, deliver_at_ms, deliver_channel, traceparent, run_id
             FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[],
                         $8::text[], $9::float8[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[],
                         $14::text[], $15::text[])
                  WITH ORDINALITY
                  AS row (emitter_id, ms, sequence, class, channel, event, key, summary, ts, hops,
                          indexed_at_ms, deliver_at_ms, deliver_channel, traceparent, run_id, number)
             ORDER BY number",
            &[
                &list(events, |row| row.emitter),
                &list(events, |row| signed(row.id.ms)),
                &list(events, |row| signed(row.id.sequence)),
                &list(events, |row| signed(row.event.channel.class().code())),
                &list(events, |row| row.event.channel.name()),
                &list(events, |row| row.event.event.get()),
                &keys,
                &list(events, |row| row.event.summary.as_deref()),
                &list(events, |row| row.event.ts),
                &list(events, |row| signed(row.event.hops)),
                &list(events, |row| signed(row.now_ms)),
                &list(events, |row| {
                    let scheduled = row.event.scheduled.as_ref();
                    scheduled.map(|scheduled| signed(scheduled.deliver_at_ms))
                }),
                &list(events, |row| {
                    let scheduled = row.event.scheduled.as_ref();
                    scheduled.map(|scheduled| scheduled.channel.name())
                }),
                &list(events, |row| row.event.trace.as_ref().map(ToString::to_string)),
                &list(events, |row| row.run_id),
            ],
        )
        .await
        .map_err(failed("appending events"))
        .map(drop)
}

/// Notes that emitters have events of a class that are newer than its last trim. Rows are written even if they are there:
/// a trim that deletes one meanwhile is overtaken then.
pub(crate) async fn note_untrimmed(
    connection: &Connection,
    noted: &[(&str, u8)],
) -> Result<(), StoreError> {
    if noted.is_empty() {
        return Ok(());
    }
    connection
        .execute(
            "INSERT INTO untrimmed (emitter_id, class)
             SELECT emitter_id, class FROM unnest($1::text[], $2::bigint[]) AS noted (emitter_id, class)
             ON CONFLICT (emitter_id, class) DO UPDATE SET waits_at = -1",
            &[
                &list(noted, |(emitter, _)| *emitter),
                &list(noted, |(_, class)| signed(*class)),
            ],
        )
        .await
        .map_err(failed("noting what is to be trimmed"))
        .map(drop)
}
