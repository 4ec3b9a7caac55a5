//! The emitters of a search, each with its last event's id and the number of its events.

use headwater_model::id::{EmitterId, EventId};
use headwater_store::{ChannelFilter, EventSearch, SearchedEmitters, StoreError};

use crate::{
    connection::{Connection, failed},
    counted_events,
    row::{parsed, unsigned},
};

/// An emitter to search.
pub(super) struct Searched {
    pub(super) id: EmitterId,
    /// No event of it is behind this one.
    pub(super) last: EventId,
    /// Events of the channels searched.
    pub(super) kept: u64,
}

/// Sources and workflows that are there, by a condition on `$1`.
fn there(condition: &str) -> String {
    let of = |table| format!("SELECT id FROM {table} WHERE {condition} AND state <> 'deleting'");
    format!(
        "emitter_id IN ({} UNION ALL {})",
        of("sources"),
        of("workflows")
    )
}

/// Those that have emitted anything, in the order of their ids.
pub(super) async fn of(
    connection: &Connection,
    search: &EventSearch,
) -> Result<Vec<Searched>, StoreError> {
    let failed = failed("looking for emitters");
    let (condition, of) = match &search.emitters {
        SearchedEmitters::One(emitter) => ("emitter_id = $1".to_owned(), emitter.as_str()),
        SearchedEmitters::Of(owner) => match &owner.workspace_id {
            Some(id) => (there("workspace_id = $1"), id.as_str()),
            None => (there("user_id = $1"), owner.user_id.as_str()),
        },
    };
    let (class, channel) = match &search.channels {
        ChannelFilter::Class(class) => (*class, None),
        ChannelFilter::Named(channel) => (channel.class(), Some(channel.name())),
    };
    let kept = counted_events::column(class, channel);
    let sql = format!(
        "SELECT emitter_id, last_ms, last_sequence, {kept} AS kept FROM emitters
         WHERE {condition} AND last_ms IS NOT NULL AND $2::text IS NOT NULL ORDER BY emitter_id"
    );
    let rows = connection
        .query(&sql, &[&of, &channel.unwrap_or_default()])
        .await
        .map_err(&failed)?;
    let mut emitters = Vec::new();
    for row in &rows {
        emitters.push(Searched {
            id: parsed(row, "emitter_id")?,
            last: EventId {
                ms: unsigned(row, "last_ms")?,
                sequence: unsigned(row, "last_sequence")?,
            },
            kept: unsigned(row, "kept")?,
        });
    }
    Ok(emitters)
}
