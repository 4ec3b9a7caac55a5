//! `/sources/{id}/run`: runs a source now, with an event that one may write.

use std::sync::Arc;

use axum::extract::State;
use headwater_platform::RunReport;
use maud::{Markup, html};
use serde::Deserialize;

use super::{head::Shown, logs::level};
use crate::{
    assets::EDITOR,
    fields::Fields,
    part::{
        icon::{Icon, icon},
        payload,
        text::{self, counted},
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};
use headwater_model::id::SourceId;

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Run {
    #[serde(default)]
    event: String,
}

/// Asks for the event.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let event = visitor.parameter("event").unwrap_or_default();
    Ok(page(&ui, &visitor, &shown, &event, html! {}))
}

/// Runs the source and waits for the end of it.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
    Fields(given): Fields<Run>,
) -> PageReply {
    let event = match given.event.trim() {
        "" => None,
        text => match serde_json::from_str(text) {
            Ok(event) => Some(event),
            Err(error) => {
                let shown = Shown::of(&ui, &visitor, &id).await?;
                let wrong = html! {
                    p.wrong role="alert" #wrong { (icon(Icon::Warning)) "The event is not JSON: " (error) }
                };
                return Ok(page(&ui, &visitor, &shown, &given.event, wrong));
            }
        },
    };
    let report = ui.platform.run_source(visitor.caller(), &id, event).await?;
    let shown = Shown::of(&ui, &visitor, &id).await?;
    Ok(page(
        &ui,
        &visitor,
        &shown,
        &given.event,
        ended(&report, &shown),
    ))
}

fn page(ui: &Ui, visitor: &Visitor, shown: &Shown, event: &str, above: Markup) -> Page {
    let body = html! {
        (shown.head(ui, visitor, ""))
        h2 { "Run now" }
        (above)
        form method="post" action={ (shown.base()) "/run" } {
            (payload_if(!event.is_empty(), html! { div.field {
                label for="event" { "Event" }
                textarea #event name="event" rows="8" spellcheck="false" placeholder="{}" data-editor=(EDITOR.path()) data-language="json" data-at="press" { (event) }
                p.hint { "JSON that " code { "run(event)" } " is given. Empty: the event of a run by hand, with a timestamp." }
            } }))
            button.primary data-tests { (icon(Icon::Play)) "Run" }
        }
    };
    Page::of(Section::Sources, format!("Run {}", shown.name()), body)
        .command(format!("headwater run {}", shown.quoted()))
}

/// A field that is hidden with payloads if it has one.
fn payload_if(has_payload: bool, field: Markup) -> Markup {
    match has_payload {
        true => payload::block(field),
        false => field,
    }
}

fn ended(report: &RunReport, shown: &Shown) -> Markup {
    let error = report.outcome.error();
    html! {
        section.card role="status" {
            p {
                a href={ "/runs/" (report.invocation_id) } { "The run" } " emitted "
                a href={ (shown.base()) "/events" } { (counted(report.events, "event", "events")) } "."
            }
            @if let Some(error) = error { pre.stack { (text::value(&error.line())) } }
            @if !report.logs.is_empty() {
                div.log tabindex="0" aria-label="Log of the run" {
                    ol { @for line in &report.logs {
                        @let (word, class) = level(line.level);
                        li class=(class) { span {} span { (word) } span { (payload::inline(text::value(&line.message))) } }
                    } }
                }
            }
        }
    }
}
