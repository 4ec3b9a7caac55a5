//! The number of events that an emitter has: per class, and per channel that components name. Every append and every
//! deletion of events counts here, so that a page of them costs the same however many there are.

use std::collections::BTreeMap;

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::NewEvent,
};
use headwater_store::StoreError;

use crate::{
    connection::{Connection, Params, failed},
    row::{get, list},
};

/// The number of classes, whose codes begin with 0.
const CLASSES: usize = 4;

/// How the numbers of an emitter's events change.
#[derive(Debug, Default)]
pub(crate) struct Change {
    classes: [i64; CLASSES],
    /// Of the channels that components name.
    channels: BTreeMap<String, i64>,
}

impl Change {
    pub(crate) fn appended(events: &[NewEvent]) -> Self {
        let mut change = Self::default();
        change.append(events);
        change
    }

    pub(crate) fn append(&mut self, events: &[NewEvent]) {
        events
            .iter()
            .for_each(|event| self.count(&event.channel, 1));
    }

    fn count(&mut self, channel: &Channel, by: i64) {
        let class = channel.class();
        self.classes[usize::from(class.code())] += by;
        if class != ChannelClass::Ordinary || channel.name().is_empty() {
            return;
        }
        match self.channels.get_mut(channel.name()) {
            Some(events) => *events += by,
            None => drop(self.channels.insert(channel.name().to_owned(), by)),
        }
    }

    /// The change for each class, in the order of the columns of emitters.
    pub(crate) fn of_classes(&self) -> [i64; CLASSES] {
        self.classes
    }

    async fn write(&self, connection: &Connection, emitter: &str) -> Result<(), StoreError> {
        let [ordinary, errors, logs, scheduled] = self.classes;
        connection
            .execute(
                "UPDATE emitters
                 SET ordinary_events = ordinary_events + $2, error_events = error_events + $3,
                     log_events = log_events + $4, scheduled_events = scheduled_events + $5
                 WHERE emitter_id = $1",
                &[&emitter, &ordinary, &errors, &logs, &scheduled],
            )
            .await
            .map_err(failed("counting events"))?;
        write_channels(connection, &[(emitter, self)]).await
    }
}

/// Counts for the channels of emitters, which keep the rest in their rows.
pub(crate) async fn write_channels(
    connection: &Connection,
    changes: &[(&str, &Change)],
) -> Result<(), StoreError> {
    let of_emitters = changes.iter();
    let counts: Vec<_> = of_emitters
        .flat_map(|(emitter, change)| change.channels.iter().map(move |count| (*emitter, count)))
        .collect();
    if counts.is_empty() {
        return Ok(());
    }
    let emitters = list(&counts, |(emitter, _)| *emitter);
    connection
        .execute(
            "INSERT INTO channel_events AS counted (emitter_id, channel, events)
             SELECT emitter_id, channel, events
             FROM unnest($1::text[], $2::text[], $3::bigint[]) AS change (emitter_id, channel, events)
             ON CONFLICT (emitter_id, hash_of(channel)) DO UPDATE SET events = counted.events + excluded.events",
            &[
                &emitters,
                &list(&counts, |(_, (channel, _))| channel.as_str()),
                &list(&counts, |(_, (_, events))| **events),
            ],
        )
        .await
        .map_err(failed("counting events"))?;
    if counts.iter().any(|(_, (_, events))| **events < 0) {
        let gone = "DELETE FROM channel_events WHERE emitter_id = ANY($1) AND events = 0";
        let deleted = connection.execute(gone, &[&emitters]).await;
        deleted.map_err(failed("counting events"))?;
    }
    Ok(())
}

/// The condition on some (`$2`) of an emitter's events (`$1`) that dispatch does not need any more.
pub(crate) const DISPATCHED: &str =
    "position = ANY (ARRAY(SELECT position FROM events WHERE emitter_id = $1
         AND position <= (SELECT position FROM dispatch_cursor) LIMIT $2))";

/// Deletes the events that match the condition, and counts them no more. Returns their number.
pub(crate) async fn delete(
    connection: &Connection,
    which: &str,
    params: Params<'_>,
) -> Result<u64, StoreError> {
    let failed = failed("deleting events");
    let rows = connection
        .query(
            &format!("DELETE FROM events WHERE {which} RETURNING emitter_id, channel"),
            params,
        )
        .await
        .map_err(&failed)?;
    let mut changes: BTreeMap<String, Change> = BTreeMap::new();
    let mut deleted = 0;
    for row in &rows {
        let emitter: String = get(row, "emitter_id")?;
        let channel = Channel::named(get::<String>(row, "channel")?);
        changes.entry(emitter).or_default().count(&channel, -1);
        deleted += 1;
    }
    for (emitter, change) in &changes {
        change.write(connection, emitter).await?;
    }
    Ok(deleted)
}

/// The number of an emitter's events of a class, or of those on one channel of the ordinary ones, with those that a
/// requested deletion has not reached yet.
pub(crate) async fn of(
    connection: &Connection,
    emitter: &str,
    class: ChannelClass,
    named: Option<&str>,
) -> Result<i64, StoreError> {
    let counted = column(class, named);
    let channel = named.unwrap_or_default();
    connection
        .value_opt(
            &format!(
                "SELECT {counted} FROM emitters WHERE emitter_id = $1 AND $2::text IS NOT NULL"
            ),
            &[&emitter, &channel],
        )
        .await
        .map_err(failed("reading the number of events"))
        .map(Option::unwrap_or_default)
}

/// The same as a column of `emitters`, with the channel as `$2`.
pub(crate) fn column(class: ChannelClass, named: Option<&str>) -> &'static str {
    match (class, named) {
        (ChannelClass::Ordinary, Some("")) => {
            "ordinary_events - coalesce((SELECT sum(events)::bigint FROM channel_events
                                         WHERE channel_events.emitter_id = emitters.emitter_id), 0)"
        }
        (ChannelClass::Ordinary, Some(_)) => {
            "coalesce((SELECT events FROM channel_events
                       WHERE channel_events.emitter_id = emitters.emitter_id
                         AND hash_of(channel) = hash_of($2) AND channel = $2), 0)"
        }
        (ChannelClass::Ordinary, None) => "ordinary_events",
        (ChannelClass::Errors, _) => "error_events",
        (ChannelClass::Logs, _) => "log_events",
        (ChannelClass::Scheduled, _) => "scheduled_events",
    }
}
