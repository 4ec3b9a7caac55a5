//! `/sources/{id}/errors`: what its runs threw, newest first.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{channel::Channel, id::EmitterId};
use headwater_platform::{EventsQuery, default_channels};
use maud::html;

use super::head::Shown;
use crate::{
    part::{
        empty::empty,
        error_event,
        event_list::live_bar,
        pager::{Ends, pager},
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};
use headwater_model::id::SourceId;

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
        (live_bar())
        div data-part="errors" {
        @if errors.items.is_empty() {
            (empty(match shown.health.last_run { Some(_) => "No error is kept.", None => "It has not run yet, so nothing failed." }, html! { p { "An error of a run appears here, with its stack and the event that it was about." } }))
        } @else {
            @for error in &errors.items { (error_event::item(&emitter, error, visitor.now_ms)) }
            (pager(&visitor, &Ends::of(&errors, |error| error.id)))
        }
        }
    };
    let command = format!("headwater events {} --channel '$errors'", shown.quoted());
    Ok(
        Page::of(Section::Sources, format!("{} · errors", shown.name()), body)
            .changing(&Topic::Source(id), &visitor)
            .command(command),
    )
}
