//! `/sources/{id}/events/{event_id}/delete`: asks once more, then deletes an event from the log.

use std::sync::Arc;

use axum::extract::{Path, State};
use headwater_model::{
    event::EventRef,
    id::{EmitterId, SourceId},
};
use headwater_platform::{EventRange, LoggedEvent, default_channels};
use maud::html;
use url::form_urlencoded::Serializer;

use super::show::reference;
use crate::{
    address::{self, Address as _},
    part::{
        confirm::{Question, confirm},
        event_row::summary,
    },
    problem::Problem,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Asks whether to delete an event.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> PageReply {
    let of = reference(&emitter, &event)?;
    source(&of.emitter)?;
    let logged = ui.platform.event(visitor.caller(), &of).await?;
    let address = address::of_event(&of.emitter, &of.id);
    let question = Question {
        title: &format!("Delete the event {}?", summary(&logged.event)),
        consequences: html! {
            p { "It leaves the log for good. Deliveries that are on their way keep their copy, and runs that it caused stay." }
        },
        action: &format!("{address}/delete"),
        fields: &[],
        button: "Delete the event",
        back: &address,
    };
    let page = Page::of(Section::Sources, "Delete an event", confirm(&question));
    Ok(page.request(&ui, "DELETE", &request(&of, &logged)))
}

/// The path and the query of the request that does the same.
fn request(of: &EventRef, logged: &LoggedEvent) -> String {
    let id = of.id.to_string();
    let mut query = Serializer::new(String::new());
    query.extend_pairs([("start_id", &id), ("end_id", &id)]);
    query.append_pair("event_name", logged.event.channel.name());
    format!("/sources/{}/events?{}", of.emitter, query.finish())
}

/// Deletes an event.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> FormReply {
    let of = reference(&emitter, &event)?;
    let id = source(&of.emitter)?;
    let logged = ui.platform.event(visitor.caller(), &of).await?;
    let range = EventRange {
        start: Some(of.id),
        end: Some(of.id),
    };
    let channel = default_channels(Some(logged.event.channel.name()));
    ui.platform
        .delete_source_events(visitor.caller(), id, channel, range)
        .await?;
    let list = format!("{}/events", id.address());
    Ok(see_other_saying(&visitor, &list, "The event is deleted"))
}

/// Workflows keep theirs.
fn source(emitter: &EmitterId) -> Result<&SourceId, Problem> {
    match emitter {
        EmitterId::Source(id) => Ok(id),
        EmitterId::Workflow(id) => Err(Problem::not_found("source", id.as_str())),
    }
}
