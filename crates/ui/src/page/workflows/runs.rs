//! `/workflows/{id}/runs`: those that have ended and those that have not, by their status; at first those that need
//! somebody.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{
    id::{RunnableId, WorkflowId},
    page::Position,
};
use headwater_platform::{
    KnownNames, PlatformError, RunSearchFilter, RunState, RunsFilter, WorkflowRunStatus,
    WorkflowRunSummary,
};
use maud::{Markup, html};

use super::head::Shown;
use crate::{
    page::runs::selected::REPLAYS,
    part::{
        code::copyable,
        empty::empty,
        event_list::live_bar,
        icon::{Icon, icon},
        outcome::Cause,
        pager::{Ends, pager},
        run_status, selection, text, time,
    },
    path::PathId,
    query::ROWS,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Lists the runs of a workflow.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let word = visitor.parameter("status");
    let mut wanted = wanted(word.as_deref());
    let needy = match wanted {
        None => needy(&ui, &visitor, &shown, &id).await?,
        Some(_) => None,
    };
    // Where nobody is needed, those that have ended are shown.
    let needs_nobody = wanted.is_none() && needy.is_none();
    let runs = match needy {
        Some(runs) => runs,
        None => {
            let filter = *wanted.get_or_insert(RunsFilter::Ended);
            listed(&ui, &visitor, &shown, &id, filter).await?
        }
    };
    let body = html! {
        (shown.head(&visitor, "runs"))
        (filters(&visitor, wanted))
        (live_bar())
        div data-part="runs" {
            @if needs_nobody { p.note { "None of them failed, and none is under way: these have ended." } }
            (runs)
        }
    };
    let command = match wanted {
        None => format!("headwater runs list {id} --status open,failed"),
        Some(RunsFilter::Ended) => format!("headwater workflows runs {}", shown.quoted()),
        Some(RunsFilter::Open) => {
            format!("headwater workflows runs {} --status open", shown.quoted())
        }
        Some(RunsFilter::Status(status)) => format!(
            "headwater workflows runs {} --status {}",
            shown.quoted(),
            run_status::words(status).0
        ),
    };
    let title = format!("{} · runs", shown.name());
    Ok(Page::of(Section::Workflows, title, body)
        .changing(&Topic::Workflow(id), &visitor)
        .command(command))
}

/// The runs that failed and those that are under way, if there are any.
async fn needy(
    ui: &Ui,
    visitor: &Visitor,
    shown: &Shown,
    id: &WorkflowId,
) -> Result<Option<Markup>, PlatformError> {
    let filter = RunSearchFilter {
        states: Some(RunState::together(&[RunState::Open, RunState::Failed])),
        runnable: Some(RunnableId::Workflow(id.clone())),
        ..RunSearchFilter::default()
    };
    let page = visitor.page_request();
    let found = ui
        .platform
        .find_runs(visitor.caller(), &filter, &page)
        .await?;
    let is_first = matches!(page.position, Position::First);
    if is_first && found.items.is_empty() && found.searched_to.is_none() {
        return Ok(None);
    }
    let is_full = found.items.len() >= ROWS as usize;
    let runs: Vec<_> = found.items.into_iter().map(|entry| entry.run).collect();
    let last = runs.last().map(|run| run.id.clone());
    let next = found.searched_to.or(last.filter(|_| is_full));
    let names = names_of_causes(ui, visitor, &runs).await?;
    Ok(Some(html! {
        (table(shown, &runs, &names, visitor))
        nav.pager aria-label="Pages" {
            @if !is_first { a href=(visitor.with(&[])) { "First page" } }
            @if let Some(next) = next { a rel="next" href=(visitor.with(&[("after", Some(next.as_str()))])) { "Next" (icon(Icon::Next)) } }
        }
    }))
}

/// The runs of one status.
async fn listed(
    ui: &Ui,
    visitor: &Visitor,
    shown: &Shown,
    id: &WorkflowId,
    filter: RunsFilter,
) -> Result<Markup, PlatformError> {
    let page = visitor.page_request();
    let runs = ui
        .platform
        .workflow_runs(visitor.caller(), id, filter, page)
        .await?;
    let names = names_of_causes(ui, visitor, &runs.items).await?;
    Ok(html! {
        @if runs.items.is_empty() {
            (nothing(shown, filter))
        } @else {
            (table(shown, &runs.items, &names, visitor))
            (pager(visitor, &Ends::of(&runs, |run| &run.id)))
        }
    })
}

/// The names of the emitters whose events caused runs.
async fn names_of_causes(
    ui: &Ui,
    visitor: &Visitor,
    runs: &[WorkflowRunSummary],
) -> Result<KnownNames, PlatformError> {
    let causes = runs.iter().filter_map(|run| run.caused_by.as_ref());
    let causes = causes.map(|of| of.emitter.clone());
    ui.platform.names(visitor.caller(), causes, []).await
}

/// The runs that an address asks for, in our words or Pipedream's; none: those that need somebody.
fn wanted(word: Option<&str>) -> Option<RunsFilter> {
    match word? {
        "open" => Some(RunsFilter::Open),
        "ended" => Some(RunsFilter::Ended),
        word => run_status::parse(word).map(RunsFilter::Status),
    }
}

fn filters(visitor: &Visitor, current: Option<RunsFilter>) -> Markup {
    let chip = |filter: Option<RunsFilter>,
                value: Option<&str>,
                label: &str,
                theirs: Option<&str>| {
        html! {
            li {
                a href=(visitor.with(&[("status", value)])) aria-current=[(current == filter).then_some("true")]
                    title=[theirs.map(|word| format!("`{word}` in Pipedream"))] { (label) }
            }
        }
    };
    html! {
        ul.chips aria-label="Status" {
            (chip(None, None, "failed and under way", None))
            (chip(Some(RunsFilter::Ended), Some("ended"), "all that ended", None))
            (chip(Some(RunsFilter::Open), Some("open"), "all under way", None))
            @for status in WorkflowRunStatus::ALL {
                @let (ours, theirs) = run_status::words(status);
                (chip(Some(RunsFilter::Status(status)), Some(ours), ours, Some(theirs)))
            }
        }
    }
}

fn table(
    shown: &Shown,
    runs: &[WorkflowRunSummary],
    names: &KnownNames,
    visitor: &Visitor,
) -> Markup {
    let (base, workflow) = (shown.base(), &shown.view.workflow);
    let newest = &workflow.deployment_id;
    let runnable = RunnableId::Workflow(workflow.id.clone());
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
                    tr data-row=(run.id) {
                        @if some_ended { (selection::cell(visitor, run.ended_at_ms.map(|_| run.id.as_str()), run.id.as_str())) }
                        th.narrow scope="row" { a href={ (base) "/runs/" (run.id) } data-main { (time::ago(run.queued_at_ms, visitor.now_ms)) } }
                        td data-label="Status" { (run_status::of_run(run.status)) }
                        td data-label="Cause" { (Cause::of_run(&runnable, run).words(names)) }
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
    let all = html! { p { a href={ (shown.base()) "/runs?status=ended" } { "Show the runs that have ended" } } };
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
            (None, None),
            (Some("open"), Some(RunsFilter::Open)),
            (Some("ended"), Some(RunsFilter::Ended)),
            (Some("nonsense"), None),
            (
                Some("paused"),
                Some(RunsFilter::Status(WorkflowRunStatus::Waiting)),
            ),
            (
                Some("failed"),
                Some(RunsFilter::Status(WorkflowRunStatus::Failed)),
            ),
            (
                Some("error"),
                Some(RunsFilter::Status(WorkflowRunStatus::Failed)),
            ),
        ] {
            assert_eq!(wanted(word), expected, "{word:?}");
        }
    }
}
