//! The rows of a search: the ids of an emitter's events in stretches, and one event at a time, of which no copy is made
//! unless it is found.

use headwater_model::{
    channel::Channel,
    event::EventData,
    id::{EmitterId, EventId},
};
use headwater_store::{EventSearch, FoundEvent, StoreError};
use serde_json::value::RawValue;
use tokio_postgres::Row;

use crate::{
    connection::{Connection, Params, failed},
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
    /// Ids and positions of emitter `$1` on channel `$2` in front of `$3` and `$4`, from `$5` on.
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
            "SELECT ms, sequence, position FROM events WHERE events.emitter_id = $1 AND {}
               AND (ms, sequence) < ($3, $4) AND ms >= $5 AND {NOT_DELETED}
             ORDER BY ms DESC, sequence DESC LIMIT {CHUNK}",
            filter.condition
        );
        Self {
            search,
            channel: filter.channel(),
            sql,
        }
    }

    /// The events of an emitter in front of an id, newest first, with the positions of their rows; [`CHUNK`] at most.
    pub(super) async fn below(
        &self,
        connection: &Connection,
        emitter: &EmitterId,
        id: EventId,
    ) -> Result<Vec<(EventId, i64)>, StoreError> {
        let failed = failed("searching events");
        let since_ms = signed(self.search.since_ms.unwrap_or_default());
        let (ms, sequence) = (signed(id.ms), signed(id.sequence));
        let parameters: Params<'_> = &[&emitter.as_str(), &self.channel, &ms, &sequence, &since_ms];
        let rows = connection
            .query(&self.sql, parameters)
            .await
            .map_err(&failed)?;
        let mut ids = Vec::new();
        for row in &rows {
            ids.push((id_of(row)?, get(row, "position")?));
        }
        Ok(ids)
    }

    /// Looks at the event at a position.
    pub(super) async fn matched(
        &self,
        connection: &Connection,
        emitter: &EmitterId,
        position: i64,
    ) -> Result<Matched, StoreError> {
        let failed = failed("searching events");
        let rows = connection
            .query("SELECT * FROM events WHERE position = $1", &[&position])
            .await
            .map_err(&failed)?;
        let gone = || StoreError::Corrupt(format!("there is no event at position {position}"));
        let row = rows.first().ok_or_else(gone)?;
        let text: &str = row.try_get("event").map_err(&failed)?;
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

fn id_of(row: &Row) -> Result<EventId, StoreError> {
    Ok(EventId {
        ms: unsigned(row, "ms")?,
        sequence: unsigned(row, "sequence")?,
    })
}

/// The event's data, or a preview.
fn data(text: &str) -> Result<EventData, StoreError> {
    let json: Result<&RawValue, _> = serde_json::from_str(text);
    let json = json.map_err(|error| StoreError::Corrupt(format!("JSON: {error}")))?;
    Ok(EventData::of(json, false))
}
