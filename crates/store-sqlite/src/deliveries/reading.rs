//! The reading of delivered events, for filters that say which ones they mean: so many bytes of them at most.

use headwater_model::event_search::EventMatcher;
use headwater_store::{DELIVERED_BYTES_READ_MAX, DeliveryFilter, StoreError};
use rusqlite::Connection;

use super::arms::Looked;
use crate::{connection::failed, row::get};

/// The reading of one search, count or step.
pub(super) struct Reading<'a> {
    matcher: &'a EventMatcher,
    bytes: u64,
}

impl<'a> Reading<'a> {
    pub(super) fn of(filter: &'a DeliveryFilter) -> Self {
        Self {
            matcher: &filter.matcher,
            bytes: 0,
        }
    }

    /// Whether the filter describes a delivery that was looked at, and its event.
    pub(super) fn finds(
        &mut self,
        connection: &Connection,
        looked: &Looked,
    ) -> Result<bool, StoreError> {
        if !looked.matches || self.matcher.is_empty() {
            return Ok(looked.matches);
        }
        let failed = failed("reading the events of deliveries");
        let mut statement = connection
            .prepare_cached(
                "SELECT event, (SELECT summary FROM events WHERE events.position = event_position) AS summary
                 FROM deliveries CROSS JOIN delivered_events ON delivered_events.position = event_position
                 WHERE deliveries.id = ?1",
            )
            .map_err(&failed)?;
        let mut rows = statement.query([&looked.id]).map_err(&failed)?;
        let Some(row) = rows.next().map_err(&failed)? else {
            return Ok(false);
        };
        let text = row.get_ref("event").map_err(&failed)?;
        let text = text
            .as_str()
            .map_err(|error| StoreError::Corrupt(format!("column event: {error}")))?;
        self.bytes += text.len() as u64;
        let summary: Option<String> = get(row, "summary")?;
        Ok(self.matcher.matches(text, summary.as_deref()))
    }

    /// Whether as much was read as may be.
    pub(super) fn is_over(&self) -> bool {
        self.bytes >= DELIVERED_BYTES_READ_MAX
    }
}
