//! `/sources/{id}/run`: runs a source now, with an event that one may write.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use headwater_model::{
    event::{Event, EventRef},
    id::{EmitterId, SourceId},
    page::PageRequest,
};
use headwater_platform::{ComponentRef, EventsQuery, PlatformError, RunReport, default_channels};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::{head::Shown, logs::level};
use crate::{
    fields::Fields,
    page::prefilled::Prefilled,
    part::{
        icon::{Icon, icon},
        payload,
        text::{self, counted},
    },
    path::PathId,
    problem::{Problem, Told},
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Run {
    #[serde(default)]
    event: String,
    /// The source's own event that runs if no other one is written.
    #[serde(default)]
    event_id: String,
}

/// The events that the form can begin with, by their names in addresses.
const BEGINNINGS: [(Option<&str>, &str); 3] = [
    (None, "no event"),
    (Some("sample"), "the component's sample"),
    (Some("last"), "the last event"),
];

/// Asks for the event.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let (prefilled, note) = match visitor.parameter("from").as_deref() {
        Some("sample") => match sample(&ui, &visitor, &shown).await {
            Some(sample) => (Prefilled::text(format!("{sample:#}")), None),
            None => (
                Prefilled::default(),
                Some("The component has no sample event."),
            ),
        },
        Some("last") => match last(&ui, &visitor, &id).await? {
            Some(of) => (Prefilled::of_event(&ui, &visitor, &of).await?, None),
            None => (Prefilled::default(), Some("No event of it is kept.")),
        },
        _ => (Prefilled::of(&ui, &visitor, id.into()).await?, None),
    };
    let note = html! { @if let Some(note) = note { p.note role="status" { (note) } } };
    Ok(page(&ui, &visitor, &shown, &prefilled, note))
}

/// The event that the component says it emits.
async fn sample(ui: &Ui, visitor: &Visitor, shown: &Shown) -> Option<Value> {
    let source = &shown.view.source;
    let reference = ComponentRef::Id(source.spec.component_id.clone());
    let workspace = source.owner.workspace_id.clone();
    let component = ui
        .platform
        .component(visitor.caller(), &reference, workspace);
    component.await.ok()?.description.sample_emit
}

/// The newest event of the source.
async fn last(
    ui: &Ui,
    visitor: &Visitor,
    id: &SourceId,
) -> Result<Option<EventRef>, PlatformError> {
    let query = EventsQuery {
        channels: default_channels(None),
        page: PageRequest::first(1),
    };
    let found = ui
        .platform
        .source_events(visitor.caller(), id, &query)
        .await?;
    let of = |event: &Event| EventRef {
        emitter: id.clone().into(),
        id: event.id,
    };
    Ok(found.items.first().map(of))
}

/// Runs the source and waits for the end of it.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
    Fields(given): Fields<Run>,
) -> PageReply {
    let entered = (given.event.as_str(), given.event_id.as_str());
    let emitter = EmitterId::from(id.clone());
    let ran = match Prefilled::sent(&ui, &visitor, emitter.clone(), entered).await {
        Ok(event) => ui.platform.run_source(visitor.caller(), &id, event).await,
        Err(error) => Err(error),
    };
    let (above, status) = match ran {
        Ok(report) => {
            let shown = Shown::of(&ui, &visitor, &id).await?;
            (ended(&report, &shown), StatusCode::OK)
        }
        Err(error) => {
            let told = refusal(error)?;
            (refused(&told), told.status)
        }
    };
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let prefilled = Prefilled::again(&ui, &visitor, emitter, entered).await?;
    Ok(page(&ui, &visitor, &shown, &prefilled, above).with_status(status))
}

/// The reason why it did not run, if what was entered is of use for another try; otherwise it has a page of its own.
fn refusal(error: PlatformError) -> Result<Told, Problem> {
    let is_of_form = matches!(
        error,
        PlatformError::Invalid(_)
            | PlatformError::EventGone { .. }
            | PlatformError::Conflict(_)
            | PlatformError::QuotaExceeded { .. }
            | PlatformError::RateLimited { .. }
            | PlatformError::TooManyWaiting { .. }
            | PlatformError::Unavailable(_)
    );
    match Problem::from(error) {
        Problem::Told(told) if is_of_form => Ok(told),
        problem @ (Problem::Told(_) | Problem::SignedOut) => Err(problem),
    }
}

fn refused(told: &Told) -> Markup {
    html! {
        section.summary-of-errors role="alert" tabindex="-1" #errors {
            h2 { (icon(Icon::Failed)) "It did not run" }
            p { (text::sentence(&told.text)) }
        }
    }
}

fn page(ui: &Ui, visitor: &Visitor, shown: &Shown, prefilled: &Prefilled, above: Markup) -> Page {
    let base = format!("{}/run", shown.base());
    let from = visitor.parameter("from");
    let is_named = visitor.parameter("event_id").is_some() || visitor.parameter("event").is_some();
    let hint = html! { "JSON that " code { "run(event)" } " is given. Empty: the event of a run by hand, with a timestamp." };
    let body = html! {
        (shown.head(ui, visitor, ""))
        h2 { "Run now" }
        (above)
        @if !shown.view.active() { p.note { "The source is paused, so it does not run. Resume it with the button above." } }
        ul.chips aria-label="Event to begin with" {
            li.note aria-hidden="true" { "Begin with:" }
            @for (name, label) in BEGINNINGS {
                li { a href={ (base) @if let Some(name) = name { "?from=" (name) } }
                    aria-current=[(!is_named && from.as_deref() == name).then_some("true")] { (label) } }
            }
        }
        form method="post" action=(base) data-busy="Running…" {
            (prefilled.field(&hint))
            button.primary data-tests { (icon(Icon::Play)) "Run" }
        }
    };
    let line = format!("headwater run {}", shown.quoted());
    let page = Page::of(Section::Sources, format!("Run {}", shown.name()), body)
        .changing(&Topic::Source(shown.view.source.id.clone()), visitor);
    prefilled.command(&line, page)
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
