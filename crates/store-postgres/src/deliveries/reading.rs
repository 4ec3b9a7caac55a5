//! The reading of delivered events, for filters that say which ones they mean: so many bytes of them at most.

use headwater_model::event_search::EventMatcher;
use headwater_store::{DELIVERED_BYTES_READ_MAX, DeliveryFilter, StoreError};

use super::arms::Looked;
use crate::{
    connection::{Connection, failed},
    row::get,
};

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
    pub(super) async fn finds(
        &mut self,
        connection: &Connection,
        looked: &Looked,
    ) -> Result<bool, StoreError> {
        if !looked.matches || self.matcher.is_empty() {
            return Ok(looked.matches);
        }
        let failed = failed("reading the events of deliveries");
        let rows = connection
            .query(
                "SELECT delivered_events.event,
                        (SELECT summary FROM events WHERE events.position = event_position) AS summary
                 FROM deliveries JOIN delivered_events ON delivered_events.position = event_position
                 WHERE deliveries.id = $1",
                &[&looked.id],
            )
            .await
            .map_err(&failed)?;
        let Some(row) = rows.first() else {
            return Ok(false);
        };
        let text: &str = row.try_get("event").map_err(&failed)?;
        self.bytes += text.len() as u64;
        let summary: Option<String> = get(row, "summary")?;
        Ok(self.matcher.matches(text, summary.as_deref()))
    }

    /// Whether as much was read as may be.
    pub(super) fn is_over(&self) -> bool {
        self.bytes >= DELIVERED_BYTES_READ_MAX
    }
}
