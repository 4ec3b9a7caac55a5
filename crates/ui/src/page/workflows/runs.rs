//! `/workflows/{id}/runs`: those that have ended and those that have not, by their status.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::{DeploymentId, WorkflowId};
use headwater_platform::{RunsFilter, WorkflowRunStatus, WorkflowRunSummary};
use maud::{Markup, html};

use super::head::Shown;
use crate::{
    page::runs::selected::REPLAYS,
    part::{
        code::copyable,
        empty::empty,
        outcome::cause,
        pager::{Ends, pager},
        run_status, selection, text, time,
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Lists the runs of a workflow.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let filter = filter(visitor.parameter("status").as_deref());
    let runs = ui
        .platform
        .workflow_runs(visitor.caller(), &id, filter, visitor.page_request())
        .await?;
    let body = html! {
        (shown.head(&visitor, "runs"))
        (filters(&visitor, filter))
        @if runs.items.is_empty() {
            (nothing(&shown, filter))
        } @else {
            (table(&shown.base(), &shown.view.workflow.deployment_id, &runs.items, &visitor))
            (pager(&visitor, &Ends::of(&runs, |run| &run.id)))
        }
    };
    let of_status = match filter {
        RunsFilter::Ended => String::new(),
        RunsFilter::Open => " --status open".to_owned(),
        RunsFilter::Status(status) => format!(" --status {}", run_status::words(status).0),
    };
    Ok(
        Page::of(Section::Workflows, format!("{} · runs", shown.name()), body).command(format!(
            "headwater workflows runs {}{of_status}",
            shown.quoted()
        )),
    )
}

/// The runs that an address asks for, in our words or Pipedream's.
fn filter(word: Option<&str>) -> RunsFilter {
    match word {
        None => RunsFilter::Ended,
        Some("open") => RunsFilter::Open,
        Some(word) => run_status::parse(word).map_or(RunsFilter::Ended, RunsFilter::Status),
    }
}

fn filters(visitor: &Visitor, current: RunsFilter) -> Markup {
    let chip = |filter: RunsFilter, value: Option<&str>, label: &str, theirs: Option<&str>| {
        html! {
            li {
                a href=(visitor.with(&[("status", value)])) aria-current=[(current == filter).then_some("true")]
                    title=[theirs.map(|word| format!("`{word}` in Pipedream"))] { (label) }
            }
        }
    };
    html! {
        ul.chips aria-label="Status" {
            (chip(RunsFilter::Ended, None, "all that ended", None))
            (chip(RunsFilter::Open, Some("open"), "all under way", None))
            @for status in WorkflowRunStatus::ALL {
                @let (ours, theirs) = run_status::words(status);
                (chip(RunsFilter::Status(status), Some(ours), ours, Some(theirs)))
            }
        }
    }
}

fn table(
    base: &str,
    newest: &DeploymentId,
    runs: &[WorkflowRunSummary],
    visitor: &Visitor,
) -> Markup {
    let some_ended = runs.iter().any(|run| run.ended_at_ms.is_some());
    html! {
        @if some_ended { (selection::bar(visitor, "/runs/selected", &REPLAYS)) }
        table.list {
            thead {
                tr {
                    @if some_ended { (selection::head()) }
                    th scope="col" { "Queued" }
                    th scope="col" { "Status" }
                    th scope="col" { "Cause" }
                    th.number scope="col" { "Waited" }
                    th.number scope="col" { "Took" }
                    th scope="col" { "Deployment" }
                    th scope="col" { "Error" }
                }
            }
            tbody {
                @for run in runs {
                    tr {
                        @if some_ended { (selection::cell(visitor, run.ended_at_ms.map(|_| run.id.as_str()), run.id.as_str())) }
                        th.narrow scope="row" { a href={ (base) "/runs/" (run.id) } { (time::ago(run.queued_at_ms, visitor.now_ms)) } }
                        td data-label="Status" { (run_status::of_run(run.status)) }
                        td data-label="Cause" { (cause(base, run)) }
                        td.number data-label="Waited" { @if let Some(started) = run.started_at_ms { (time::took(started.since(run.queued_at_ms))) } }
                        td.number data-label="Took" {
                            @if let (Some(started), Some(ended)) = (run.started_at_ms, run.ended_at_ms) { (time::took(ended.since(started))) }
                        }
                        td data-label="Deployment" { @if let Some(id) = &run.deployment_id { a href={ (base) "/steps?deployment=" (id) } title=(id) { @if id == newest { "the newest" } @else { "an older one" } } } }
                        td data-label="Error" { @if let Some(error) = &run.error { (text::line(error)) } }
                    }
                }
            }
        }
    }
}

/// The reason why there are no runs, and what helps.
fn nothing(shown: &Shown, filter: RunsFilter) -> Markup {
    let all = html! { p { a href={ (shown.base()) "/runs" } { "Show the runs that have ended" } } };
    match filter {
        RunsFilter::Open => empty("Nothing is under way.", all),
        RunsFilter::Status(status) => {
            let word = run_status::words(status).0;
            empty(&format!("No run that is kept is {word}."), all)
        }
        RunsFilter::Ended if !shown.view.is_active() => empty(
            "The workflow is paused, so its triggers start no runs.",
            html! { p { "Resume it with the button above." } },
        ),
        RunsFilter::Ended => {
            let urls = shown.view.triggers.iter();
            let url = urls
                .filter_map(|trigger| trigger.endpoint_url.as_deref())
                .next();
            empty(
                "No run has ended yet.",
                html! {
                    @if let Some(url) = url {
                        p { "Send a request:" }
                        p { (copyable(&format!("curl -s {url} -H 'content-type: application/json' -d '{{\"name\":\"Ada\"}}'"))) }
                    }
                    p { a href={ (shown.base()) "/run" } { "Run it now" } " with an event of your own." }
                },
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_take_our_words_and_those_of_pipedream() {
        for (word, expected) in [
            (None, RunsFilter::Ended),
            (Some("open"), RunsFilter::Open),
            (Some("nonsense"), RunsFilter::Ended),
            (
                Some("paused"),
                RunsFilter::Status(WorkflowRunStatus::Waiting),
            ),
            (
                Some("failed"),
                RunsFilter::Status(WorkflowRunStatus::Failed),
            ),
            (Some("error"), RunsFilter::Status(WorkflowRunStatus::Failed)),
        ] {
            assert_eq!(filter(word), expected, "{word:?}");
        }
    }
}
