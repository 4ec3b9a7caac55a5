//! `/sources/{id}/events/{event_id}/delete`: asks once more, then deletes an event from the log.

use std::sync::Arc;

use axum::extract::{Path, State};
use headwater_model::id::{EmitterId, SourceId};
use headwater_platform::{EventRange, default_channels};
use maud::html;

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
    Ok(Page::of(
        Section::Sources,
        "Delete an event",
        confirm(&question),
    ))
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
