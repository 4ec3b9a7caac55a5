//! `/events/export`: all that a search of events finds, as lines of JSON for a file, read part by part while it is sent.

use std::{collections::VecDeque, sync::Arc};

use axum::{extract::State, response::Response};
use bytes::Bytes;
use headwater_model::event::{EventData, EventRef};
use headwater_platform::{Caller, EventsSearch, FoundEvent, PlatformError};
use serde_json::json;

use super::{views, wanted::Wanted};
use crate::{
    ndjson::{self, Lines},
    problem::Problem,
    query::ROWS,
    state::Ui,
    visit::Visitor,
};

/// Events of one file.
const EVENTS_MAX: usize = 10_000;

/// The address of the file of a search.
pub(super) fn address(visitor: &Visitor, wanted: &Wanted) -> String {
    let address = views::address(visitor, wanted);
    address.replacen("/events", "/events/export", 1)
}

/// Sends what the search finds, newest first.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> Result<Response, Problem> {
    let (_, query) = visitor.location.split_once('?').unwrap_or_default();
    let search = EventsSearch {
        limit: ROWS,
        ..Wanted::parse(query).search(&visitor)?
    };
    let export = Export {
        ui,
        caller: visitor.caller().clone(),
        search,
        ready: VecDeque::new(),
        left: EVENTS_MAX,
        has_more: true,
    };
    Ok(ndjson::file("events", export).await?)
}

/// A file that is being sent.
struct Export {
    ui: Arc<Ui>,
    caller: Caller,
    search: EventsSearch,
    ready: VecDeque<FoundEvent>,
    left: usize,
    has_more: bool,
}

impl Lines for Export {
    async fn next(&mut self) -> Result<Option<Bytes>, PlatformError> {
        self.line().await
    }
}

impl Export {
    /// Reads the next part.
    async fn read(&mut self) -> Result<(), PlatformError> {
        let search = self.search.clone();
        let found = self.ui.platform.search_events(&self.caller, search).await?;
        self.ready.extend(found.events);
        self.has_more = found.next.is_some();
        self.search.after = found.next;
        Ok(())
    }

    /// The next line, if there is one. An event that is gone by now is left out.
    async fn line(&mut self) -> Result<Option<Bytes>, PlatformError> {
        while self.left > 0 {
            let Some(event) = self.ready.pop_front() else {
                if !self.has_more {
                    return Ok(None);
                }
                self.read().await?;
                continue;
            };
            if let Some(line) = self.told(event).await? {
                self.left -= 1;
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// An event as a line, with its whole value.
    async fn told(&self, event: FoundEvent) -> Result<Option<Bytes>, PlatformError> {
        let data = match event.data {
            EventData::Whole(data) => data,
            EventData::Preview(_) => {
                let of = EventRef {
                    emitter: event.emitter.clone(),
                    id: event.id,
                };
                match self.ui.platform.event(&self.caller, &of).await {
                    Ok(logged) => logged.event.event,
                    Err(PlatformError::NotFound { .. } | PlatformError::EventGone { .. }) => {
                        return Ok(None);
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let about = json!({
            "id": event.id.to_string(),
            "emitter": event.emitter.as_str(),
            "indexed_at_ms": event.indexed_at_ms.0,
            "channel": event.channel.name(),
            "summary": event.summary,
            "ts": event.ts,
        });
        let about = about.to_string();
        // The value as it was emitted, to the digit.
        let about = about.strip_suffix('}').unwrap_or(&about);
        Ok(Some(Bytes::from(format!(
            "{about},\"event\":{}}}\n",
            data.get()
        ))))
    }
}
