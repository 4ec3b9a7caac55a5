//! `/workflows/{id}/events`: what its steps emitted, newest first, as it comes.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{
    channel::Channel,
    id::{EmitterId, WorkflowId},
};
use headwater_platform::{EventsQuery, default_channels};
use maud::html;

use super::head::Shown;
use crate::{
    part::{
        empty::empty,
        event_list,
        event_row::{self, About},
        pager::{Ends, pager},
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Channels that every workflow has.
const CHANNELS: [&str; 1] = [Channel::ERRORS];

/// Lists the events of a workflow.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let channel = visitor.parameter("channel");
    let query = EventsQuery {
        channels: default_channels(channel.as_deref()),
        page: visitor.page_request(),
    };
    let events = ui
        .platform
        .workflow_events(visitor.caller(), &id, &query)
        .await?;
    let emitter = EmitterId::Workflow(id.clone());
    let body = html! {
        (shown.head(&visitor, "events"))
        (event_list::channels(&visitor, &CHANNELS))
        (event_list::live_bar())
        (event_row::table(&emitter, &events.items, &About::default(), &visitor))
        @if events.items.is_empty() {
            @if channel.is_some() {
                (empty("Nothing is kept on this channel.", html! { p { a href={ (shown.base()) "/events" } { "Show the other events" } } }))
            } @else {
                (empty(match shown.health.last_run { Some(_) => "Its steps emitted nothing that is kept.", None => "It has not run yet, so it emitted nothing." }, html! {
                    p { "A step emits with " code { "$.send.emit(event)" } ". Most workflows do not: see what they did at " a href={ (shown.base()) "/runs" } { "their runs" } "." }
                }))
            }
        } @else {
            (pager(&visitor, &Ends::of(&events, |event| event.id)))
        }
    };
    let page = Page::of(
        Section::Workflows,
        format!("{} · events", shown.name()),
        body,
    )
    .request(&ui, "GET", &format!("/workflows/{id}/event_summaries"));
    Ok(event_list::followed(page, &visitor, &emitter, &events))
}
