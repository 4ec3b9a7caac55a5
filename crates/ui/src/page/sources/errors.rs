//! `/sources/{id}/errors`: what its runs threw, newest first.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{channel::Channel, event::Event, id::EmitterId};
use headwater_platform::{EventsQuery, default_channels};
use maud::{Markup, html};
use serde::Deserialize;

use super::{event_row, head::Shown};
use crate::{
    part::{
        empty::empty,
        pager::{Ends, pager},
        text, time,
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};
use headwater_model::id::SourceId;

/// The part of an event on `$errors` that is shown.
#[derive(Deserialize)]
struct ErrorEvent {
    error: Thrown,
}

#[derive(Deserialize)]
struct Thrown {
    #[serde(default)]
    name: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    stack: String,
}

/// Lists the errors of a source.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let query = EventsQuery {
        channels: default_channels(Some(Channel::ERRORS)),
        page: visitor.page_request(),
    };
    let errors = ui
        .platform
        .source_events(visitor.caller(), &id, &query)
        .await?;
    let emitter = EmitterId::Source(id.clone());
    let body = html! {
        (shown.head(&ui, &visitor, "errors"))
        @if errors.items.is_empty() {
            (empty("No error is kept.", html! { p { "An error of a run appears here, with its stack and the event that it was about." } }))
        } @else {
            @for error in &errors.items { (item(&emitter, error, &visitor)) }
            (pager(&visitor, &Ends::of(&errors, |error| error.id)))
        }
    };
    Ok(
        Page::of(Section::Sources, format!("{} · errors", shown.name()), body).command(format!(
            "headwater events {} --channel '$errors'",
            shown.quoted()
        )),
    )
}

fn item(emitter: &EmitterId, event: &Event, visitor: &Visitor) -> Markup {
    let read = serde_json::from_str::<ErrorEvent>(event.event.get());
    html! {
        article.card {
            h3 { a href=(event_row::address(emitter, event)) { (text::line(&event_row::summary(event))) } }
            p.note {
                (time::ago(event.indexed_at_ms, visitor.now_ms))
                @if let Some(run) = &event.run_id { " in " a href={ "/runs/" (run) } { "this run" } }
            }
            @if let Ok(ErrorEvent { error }) = read {
                @if error.stack.is_empty() { p { (text::value(&error.name)) ": " (text::value(&error.message)) } }
                @else { pre.stack { (text::value(&error.stack)) } }
            }
        }
    }
}
