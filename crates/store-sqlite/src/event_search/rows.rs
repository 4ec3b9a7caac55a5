//! The rows of a search: the ids of an emitter's events in stretches, and one event at a time, of which no copy is made
//! unless it is found.

use headwater_model::{
    channel::Channel,
    event::EventData,
    id::{EmitterId, EventId},
};
use headwater_store::{EventSearch, FoundEvent, StoreError};
use rusqlite::{Connection, Row, params};
use serde_json::value::RawValue;

use crate::{
    connection::failed,
    event_row::NOT_DELETED,
    events::Filter,
    row::{get, json_opt, parsed_opt, signed, unsigned},
};

/// Ids that are read of an emitter at a time.
pub(super) const CHUNK: usize = 64;

/// Reads events of a search.
pub(super) struct Rows<'a> {
    search: &'a EventSearch,
    channel: &'a str,
    /// Ids and positions of emitter `?1` on channel `?2` in front of `?3` and `?4`, from `?5` on.
    sql: String,
}

/// An event that was looked at.
pub(super) struct Matched {
    /// The bytes of its JSON.
    pub(super) bytes: u64,
    /// The event, if it is one that is searched for.
    pub(super) event: Option<FoundEvent>,
}

impl<'a> Rows<'a> {
    pub(super) fn of(search: &'a EventSearch) -> Self {
        let filter = Filter::of(&search.channels);
        let sql = format!(
            "SELECT ms, sequence, position FROM events INDEXED BY {}
             WHERE events.emitter_id = ?1 AND {}
               AND (ms, sequence) < (?3, ?4) AND ms >= ?5 AND {NOT_DELETED}
             ORDER BY ms DESC, sequence DESC LIMIT {CHUNK}",
            filter.index, filter.condition
        );
        Self {
            search,
            channel: filter.channel(),
            sql,
        }
    }

    /// The events of an emitter in front of an id, newest first, with the positions of their rows; [`CHUNK`] at most.
    pub(super) fn below(
        &self,
        connection: &Connection,
        emitter: &EmitterId,
        id: EventId,
    ) -> Result<Vec<(EventId, i64)>, StoreError> {
        let failed = failed("searching events");
        let mut statement = connection.prepare_cached(&self.sql).map_err(&failed)?;
        let since_ms = signed(self.search.since_ms.unwrap_or_default());
        let (ms, sequence) = (signed(id.ms), id.sequence);
        let parameters = params![emitter.as_str(), self.channel, ms, sequence, since_ms];
        let mut rows = statement.query(parameters).map_err(&failed)?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
            ids.push((id_of(row)?, get(row, "position")?));
        }
        Ok(ids)
    }

    /// Looks at the event at a position.
    pub(super) fn matched(
        &self,
        connection: &Connection,
        emitter: &EmitterId,
        position: i64,
    ) -> Result<Matched, StoreError> {
        let failed = failed("searching events");
        let mut statement = connection
            .prepare_cached("SELECT * FROM events WHERE position = ?")
            .map_err(&failed)?;
        let mut rows = statement.query([position]).map_err(&failed)?;
        let gone = || StoreError::Corrupt(format!("there is no event at position {position}"));
        let row = rows.next().map_err(&failed)?.ok_or_else(gone)?;
        let text = row.get_ref("event").map_err(&failed)?;
        let text = text
            .as_str()
            .map_err(|error| StoreError::Corrupt(format!("column event: {error}")))?;
        let summary: Option<String> = get(row, "summary")?;
        let is_found = self.search.matcher.matches(text, summary.as_deref());
        let event = match is_found {
            true => Some(FoundEvent {
                emitter: emitter.clone(),
                id: id_of(row)?,
                indexed_at_ms: unsigned(row, "indexed_at_ms")?,
                channel: Channel::named(get::<String>(row, "channel")?),
                data: data(text)?,
                key: json_opt(row, "key")?,
                summary,
                ts: get(row, "ts")?,
                run_id: parsed_opt(row, "run_id")?,
            }),
            false => None,
        };
        Ok(Matched {
            bytes: text.len() as u64,
            event,
        })
    }
}

fn id_of(row: &Row<'_>) -> Result<EventId, StoreError> {
    Ok(EventId {
        ms: unsigned(row, "ms")?,
        sequence: get(row, "sequence")?,
    })
}

/// The event's data, or a preview.
fn data(text: &str) -> Result<EventData, StoreError> {
    let json: Result<&RawValue, _> = serde_json::from_str(text);
    let json = json.map_err(|error| StoreError::Corrupt(format!("JSON: {error}")))?;
    Ok(EventData::of(json, false))
}

#[cfg(test)]
mod tests {
    use headwater_model::{channel::ChannelClass, event_search::EventMatcher};
    use headwater_store::{ChannelFilter, ScanLimits, SearchedEmitters};

    use super::*;
    use crate::{connection, migration};

    #[test]
    fn ids_are_read_from_an_index_in_its_order() {
        let connection = connection::in_memory().unwrap();
        migration::run(&connection).unwrap();
        for (channels, index) in [
            (
                ChannelFilter::Class(ChannelClass::Ordinary),
                "events_by_id (emitter_id=? AND class=? AND ms>? AND (ms,sequence)<(?,?))",
            ),
            (
                ChannelFilter::Named(Channel::named("orders")),
                "events_by_channel (emitter_id=? AND channel=? AND ms>? AND (ms,sequence)<(?,?))",
            ),
        ] {
            let search = EventSearch {
                emitters: SearchedEmitters::One("dc_0DkqLtSyJ4yOMpWg5tVxNq".parse().unwrap()),
                channels,
                since_ms: None,
                until_ms: None,
                matcher: EventMatcher::default(),
                after: None,
                limit: 1,
                scan: ScanLimits {
                    events: 1,
                    bytes: 1,
                },
            };
            let sql = Rows::of(&search).sql;
            let mut statement = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap();
            let steps = statement.raw_query().mapped(|row| row.get("detail"));
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            assert!(steps[0].contains(index), "{steps:?}");
            assert!(
                !steps.iter().any(|step| step.contains("B-TREE")),
                "{steps:?}"
            );
        }
    }
}
