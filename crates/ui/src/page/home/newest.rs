//! The newest events of everything, and the place from which on the page follows what comes.

use headwater_model::event_search::EventPlace;
use headwater_platform::{EventsSearch, FoundEvent, KnownNames, LogPosition, PlatformError};
use maud::{Markup, html};

use crate::{
    part::{
        empty::empty,
        news::{self, Line},
    },
    state::Ui,
    visit::Visitor,
};

pub(super) struct Newest {
    events: Vec<FoundEvent>,
    names: KnownNames,
    pub(super) up_to: LogPosition,
}

impl Newest {
    pub(super) async fn of(ui: &Ui, visitor: &Visitor) -> Result<Self, PlatformError> {
        let (platform, caller) = (&ui.platform, visitor.caller());
        // Before the events are read, so that none is missed; those that come twice have the same keys.
        let up_to = platform.news_begin().await?;
        let search = EventsSearch {
            workspace_id: visitor.workspace.clone(),
            limit: news::ROWS as u32,
            ..EventsSearch::default()
        };
        let events = platform.search_events(caller, search).await?.events;
        let emitters = events.iter().map(|event| event.emitter.clone());
        let names = platform.names(caller, emitters, []).await?;
        Ok(Self {
            events,
            names,
            up_to,
        })
    }

    /// Whether no event is kept.
    pub(super) fn are_none(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn markup(&self, visitor: &Visitor) -> Markup {
        let summaries: Vec<_> = self.events.iter().map(summary).collect();
        let lines = self.events.iter().zip(&summaries);
        let lines = lines.map(|(event, summary)| Line {
            place: EventPlace {
                id: event.id,
                emitter: event.emitter.clone(),
            },
            indexed_at_ms: event.indexed_at_ms,
            name: self
                .names
                .of_emitter(&event.emitter)
                .unwrap_or(event.emitter.as_str()),
            summary,
        });
        let lines: Vec<_> = lines.collect();
        html! {
            h2 { "Newest events" }
            (news::table(&lines, visitor.now_ms))
            @if lines.is_empty() { (empty("No source and no workflow has emitted an event that is kept.", html! { p { "Those that come appear here." } })) }
        }
    }
}

/// The line of an event: its summary, or its beginning.
fn summary(event: &FoundEvent) -> String {
    match &event.summary {
        Some(summary) if !summary.trim().is_empty() => summary.clone(),
        _ => serde_json::to_string(&event.data).unwrap_or_default(),
    }
}
