//! `/sources/{id}/runs`: when it ran, and how that ended.

use std::sync::Arc;

use axum::extract::State;
use headwater_platform::{KnownNames, OutcomeFilter, RunFilter, RunRecord};
use maud::{Markup, html};

use super::head::Shown;
use crate::{
    part::{
        empty::empty,
        event_list::live_bar,
        outcome::{Cause, outcome},
        pager::{Ends, pager},
        text, time,
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};
use headwater_model::id::SourceId;

/// Lists the runs of a source.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let wanted = visitor.parameter("outcome");
    let filter = RunFilter {
        outcome: match wanted.as_deref() {
            Some("failed") => Some(OutcomeFilter::Failed),
            Some("succeeded") => Some(OutcomeFilter::Succeeded),
            _ => None,
        },
        ..RunFilter::default()
    };
    let page = visitor.page_request();
    let runs = ui
        .platform
        .source_runs(visitor.caller(), &id, filter, &page)
        .await?;
    let causes = runs.items.iter().filter_map(|run| run.caused_by.as_ref());
    let causes = causes.map(|of| of.emitter.clone());
    let names = ui.platform.names(visitor.caller(), causes, []).await?;
    let body = html! {
        (shown.head(&ui, &visitor, "runs"))
        ul.chips aria-label="Outcome" {
            @for (value, label) in [(None, "All"), (Some("failed"), "Failed"), (Some("succeeded"), "Succeeded")] {
                li { a href=(visitor.with(&[("outcome", value)])) aria-current=[(wanted.as_deref() == value).then_some("true")] { (label) } }
            }
        }
        (live_bar())
        div data-part="runs" {
            @if runs.items.is_empty() {
                (nothing(&shown, &visitor, filter.outcome))
            } @else {
                (table(&runs.items, &names, &visitor))
                (pager(&visitor, &Ends::of(&runs, |run| &run.id)))
            }
        }
    };
    Ok(
        Page::of(Section::Sources, format!("{} · runs", shown.name()), body)
            .changing(&Topic::Source(id), &visitor)
            .command(format!("headwater runs {}", shown.quoted())),
    )
}

/// The reason why there are no runs.
fn nothing(shown: &Shown, visitor: &Visitor, outcome: Option<OutcomeFilter>) -> Markup {
    let has_run = shown.health.last_run.is_some();
    match outcome.filter(|_| has_run) {
        Some(outcome) => empty(
            match outcome {
                OutcomeFilter::Failed => "No run that is kept has failed.",
                OutcomeFilter::Succeeded | OutcomeFilter::Exactly(_) => {
                    "No run that is kept has succeeded."
                }
            },
            html! { p { a href=(visitor.with(&[("outcome", None)])) { "Show all runs" } } },
        ),
        None if has_run => empty(
            "There are no more runs in this direction.",
            html! { p { a href=(visitor.with(&[])) { "Show the newest" } } },
        ),
        None if !shown.view.active() => empty(
            "The source is paused, so it does not run.",
            html! { p { "Resume it with the button above." } },
        ),
        None => empty(
            "It has not run yet.",
            html! { p { "It waits for its trigger: " (shown.triggers()) ". " a href={ (shown.base()) "/run" } { "Run it now" } "." } },
        ),
    }
}

fn table(runs: &[RunRecord], names: &KnownNames, visitor: &Visitor) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Started" }
                    th scope="col" { "Outcome" }
                    th scope="col" { "Cause" }
                    th.number scope="col" { "Waited" }
                    th.number scope="col" { "Took" }
                    th.number scope="col" { "Emitted" }
                    th.number scope="col" { "Dropped" }
                    th scope="col" { "Error" }
                }
            }
            tbody {
                @for run in runs {
                    tr data-row=(run.id) {
                        td.narrow { a href={ "/runs/" (run.id) } { (time::ago(run.ended.started_at_ms, visitor.now_ms)) } }
                        td data-label="Outcome" { (outcome(run.ended.outcome)) }
                        td data-label="Cause" { (Cause::of_record(run).words(names)) }
                        td.number data-label="Waited" { (time::took(run.ended.started_at_ms.since(run.ended.queued_at_ms))) }
                        td.number data-label="Took" { (time::took(run.ended.ended_at_ms.since(run.ended.started_at_ms))) }
                        td.number data-label="Emitted" { (run.ended.emitted) }
                        td.number data-label="Dropped" { (run.ended.dropped.count) }
                        td data-label="Error" { @if let Some(error) = &run.ended.error { (text::line(error)) } }
                    }
                }
            }
        }
    }
}
