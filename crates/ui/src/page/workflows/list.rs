//! `/workflows`: every workflow with its state and its last run.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::WorkflowId;
use headwater_platform::{Wanted, Workflow, WorkflowHealth, WorkflowState};
use maud::{Markup, html};

use super::head::health_state;
use crate::{
    address::Address as _,
    page::reduced,
    part::{
        code::copyable,
        empty::empty,
        event_list::live_bar,
        outcome::outcome,
        pager::{Ends, pager},
        text::{self, counted},
        time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Lists workflows.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let wanted = reduced::wanted(&visitor);
    let (workspace, page) = (visitor.workspace.clone(), visitor.page_request());
    let workflows = ui
        .platform
        .listed_workflows(visitor.caller(), workspace, wanted.clone(), &page)
        .await?;
    let ids = workflows.items.iter().map(|workflow| workflow.id.clone());
    let ids: Vec<WorkflowId> = ids.collect();
    let health = ui.platform.workflows_health(&ids).await?;
    let body = html! {
        header.title { h1 { "Workflows" } }
        @let is_all = wanted == Wanted::default();
        @if !is_all || !workflows.items.is_empty() { (reduced::form(&visitor, &wanted, "/workflows", &html! {})) }
        (live_bar())
        div data-part="workflows" {
        @if is_all && workflows.items.is_empty() {
            (empty("There are no workflows here yet.", html! {
                p { "A workflow is a folder: a file with its triggers and steps, and the code of these." }
                p { (copyable("headwater workflows init hello")) }
                p { (copyable("headwater workflows deploy hello")) }
            }))
        } @else {
            @if workflows.items.is_empty() { (reduced::none_left(&visitor.to("/workflows"), "workflows")) }
            @else {
                (table(&visitor, workflows.items.iter().zip(&health)))
                (pager(&visitor, &Ends::of(&workflows, |workflow| workflow.id.as_str())))
            }
        }
        }
    };
    Ok(Page::of(Section::Workflows, "Workflows", body)
        .changing(&Topic::Workflows, &visitor)
        .command("headwater workflows list"))
}

fn table<'a>(
    visitor: &Visitor,
    workflows: impl Iterator<Item = (&'a Workflow, &'a WorkflowHealth)>,
) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Name" }
                    th scope="col" { "State" }
                    th scope="col" { "Last run" }
                    th scope="col" { "Error" }
                    th scope="col" { "Under way" }
                    th scope="col" { "Next" }
                    th scope="col" { "Deployed" }
                }
            }
            tbody { @for (workflow, health) in workflows { (row(visitor, workflow, health)) } }
        }
    }
}

fn row(visitor: &Visitor, workflow: &Workflow, health: &WorkflowHealth) -> Markup {
    let now_ms = visitor.now_ms;
    let base = workflow.id.address();
    let is_active = workflow.state == WorkflowState::Active;
    html! {
        tr data-row=(workflow.id) {
            th scope="row" { a href=(base) { (text::line(&workflow.name)) } }
            td data-label="State" { (health_state(is_active, health)) }
            td data-label="Last run" {
                @match &health.last_run {
                    Some(run) => {
                        (outcome(run.ended.outcome)) " "
                        a href={ (base) "/runs/" (run.id) } { (time::ago(run.ended.started_at_ms, now_ms)) }
                    }
                    None => { span.note { "never" } }
                }
            }
            td data-label="Error" {
                @if let Some(error) = health.last_run.as_ref().and_then(|run| run.ended.error.as_ref()) { (text::line(error)) }
            }
            td data-label="Under way" {
                @if health.open_runs > 0 { a href={ (base) "/runs?status=open" } { (counted(health.open_runs.into(), "run", "runs")) } }
            }
            td data-label="Next" { @if let Some(next) = health.next_tick_at_ms { (time::ago(next, now_ms)) } }
            td data-label="Deployed" { (time::ago(workflow.updated_at.to_ms(), now_ms)) }
        }
    }
}
