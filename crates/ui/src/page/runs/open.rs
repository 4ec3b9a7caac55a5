//! The page of a source's run that has not ended: as much as is known of it. It becomes the page of the run that ended.

use headwater_model::id::SourceId;
use headwater_platform::{PlatformError, WorkflowRunSummary};
use maud::{Markup, html};

use crate::{
    address::Address as _,
    part::{event_list::live_bar, outcome::trigger, run_status, text, time},
    problem::Problem,
    reply::{Page, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// The page, which follows the source until the run has ended.
pub(super) async fn page(
    ui: &Ui,
    visitor: &Visitor,
    source_id: SourceId,
    run: &WorkflowRunSummary,
) -> Result<Page, Problem> {
    let source = ui.platform.source(visitor.caller(), &source_id).await?;
    let log = match ui.platform.open_run_log(visitor.caller(), &run.id).await {
        // It has ended meanwhile, which a look again shows.
        Err(PlatformError::NotFound { .. }) => Vec::new(),
        log => log?,
    };
    let name = &source.source.spec.name;
    let base = source_id.address();
    let body = html! {
        (live_bar())
        div data-part="run" data-goes-on {
            (crumbs(&base, name))
            header.title {
                h1 { "Run of " (text::line(name)) }
                (run_status::of_run(run.status))
                div.actions {
                    a.button href=(visitor.location) { "Load again" }
                    a.button.danger href={ "/runs/" (run.id) "/cancel" } { "Cancel" }
                }
            }
            (facts(run, visitor))
            p.note { "Its events and its errors are here when it has ended." }
            h2 { "Log" }
            @if log.is_empty() { p.note { "It has written nothing so far." } }
            @else { (super::log::lines(log.iter())) }
        }
    };
    let page = Page::of(Section::Sources, format!("Run of {name}"), body)
        .changing(&Topic::Source(source_id), visitor)
        .command(format!("headwater runs describe {}", run.id));
    Ok(page)
}

fn facts(run: &WorkflowRunSummary, visitor: &Visitor) -> Markup {
    let now_ms = visitor.now_ms;
    html! {
        dl.facts {
            dt { "Cause" } dd { (trigger(run.trigger)) }
            dt { "Queued" } dd { (time::exact(run.queued_at_ms)) " (" (time::ago(run.queued_at_ms, now_ms)) ")" }
            @if let Some(started) = run.started_at_ms { dt { "Started" } dd { (time::exact(started)) " (" (time::ago(started, now_ms)) ")" } }
            dt { "Id" } dd { code { (run.id) } }
        }
    }
}

/// The way up from a run of a source.
pub(super) fn crumbs(base: &str, name: &str) -> Markup {
    html! { p.crumbs { a href="/sources" { "Sources" } " / " a href=(base) { (text::line(name)) } " / " a href={ (base) "/runs" } { "Runs" } } }
}
