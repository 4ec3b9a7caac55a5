//! `/`: the first steps until they are done, what fails now, and the newest of everything.

mod cards;
mod deployed;
mod needs;
mod newest;
mod steps;

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::WorkspaceId;
use maud::html;

use self::{deployed::Deployed, needs::Needs, newest::Newest, steps::Steps};
use super::runs::list::bars;
use crate::{
    part::{event_list::live_bar, strip::strip},
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Shows the state of everything at a glance.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let scopes = scopes(&visitor);
    let deployed = Deployed::of(&ui, &visitor, &scopes).await?;
    let needs = Needs::of(&ui, &visitor, &scopes).await?;
    let workspace = visitor.workspace.as_ref();
    let hours = ui.platform.run_hours(visitor.caller(), workspace).await?;
    let newest = Newest::of(&ui, &visitor).await?;
    let steps = Steps::of(&ui, &visitor, &deployed, &hours, &newest).await?;
    let body = html! {
        header.title { h1 { "Home" } }
        (live_bar())
        div data-part="home" {
            @if let Some(steps) = &steps { (steps.markup(&visitor)) }
            @if !deployed.is_nothing() || !needs.are_none() { (cards::markup(&needs, &visitor)) }
            @if !deployed.is_nothing() || deployed::has_run(&hours) { (strip(&bars(&hours, &visitor))) }
            @if !deployed.is_nothing() { (deployed.numbers(&visitor)) }
        }
        (newest.markup(&visitor))
    };
    Ok(Page::of(Section::Home, "Home", body)
        .news(workspace, newest.up_to)
        .changing(&Topic::Sources, &visitor)
        .changing(&Topic::Workflows, &visitor)
        .changing(&Topic::Webhooks, &visitor)
        .command("headwater list")
        .command("headwater workflows list")
        .command("headwater doctor"))
}

/// Everything that the bars count: the workspace that is chosen, or all of the visitor's own and of each workspace.
fn scopes(visitor: &Visitor) -> Vec<Option<WorkspaceId>> {
    if let Some(id) = &visitor.workspace {
        return vec![Some(id.clone())];
    }
    let workspaces = visitor.caller().identity.workspaces.iter();
    let workspaces = workspaces.map(|workspace| Some(workspace.id.clone()));
    std::iter::once(None).chain(workspaces).collect()
}
