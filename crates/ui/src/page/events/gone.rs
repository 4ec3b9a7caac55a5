//! The page of an event that is not kept any more: until when it was, and what still has a copy.

use axum::http::StatusCode;
use headwater_model::{
    event::EventRef,
    id::EventId,
    page::{PageRequest, Position},
};
use headwater_platform::{EventsQuery, default_channels};
use maud::html;

use super::{caused::Caused, neighbours::events};
use crate::{
    address::{self, Address as _},
    part::{empty::empty, name, text::grouped, time},
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Tells of an event that is gone; of each emitter, so many are retained.
pub(super) async fn page(ui: &Ui, visitor: &Visitor, of: &EventRef, retained: u32) -> PageReply {
    let caused = Caused::by(ui, visitor, of).await?;
    let next = EventsQuery {
        channels: default_channels(None),
        page: PageRequest {
            limit: 1,
            position: Position::Before(of.id),
        },
    };
    let next = events(ui, visitor.caller(), &of.emitter, &next).await?;
    let base = of.emitter.address();
    let body = html! {
        p.crumbs { (name::emitter(&caused.names, &of.emitter)) " / " a href={ (base) "/events" } { "Events" } }
        header.title { h1 { "This event is not kept any more" } }
        (empty(&format!("Of each source and workflow, the newest {} events are kept.", grouped(retained.into())), html! {
            p {
                @if of.id == EventId::default() { "There was no event with this id." }
                @else { "If there was one with this id, it was of " (time::exact(of.id.ms)) ", and was kept until newer ones took its place or somebody deleted it." }
            }
            p {
                @if let Some(event) = next.items.first() {
                    "The next one that is kept is of " a href=(address::of_event(&of.emitter, &event.id)) { (time::ago(event.indexed_at_ms, visitor.now_ms)) } ". "
                }
                a href={ (base) "/events" } { "Show the events that are kept" }
            }
        }))
        h2 { "Deliveries with a copy" }
        (caused.delivered(of, "No delivery of it is kept."))
        h2 { "Runs of listeners" }
        (caused.ran(visitor))
    };
    let page = Page::of(
        Section::of_emitter(&of.emitter),
        "This event is not kept any more",
        body,
    );
    let command = format!(
        "headwater deliveries list --source {} --event {}",
        of.emitter, of.id
    );
    Ok(page.with_status(StatusCode::NOT_FOUND).command(command))
}
