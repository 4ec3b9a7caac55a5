//! `/workflows/{id}/runs/{run}`: one run with its course over time, its steps, waits and messages. The page follows a run
//! that has not ended.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{
    id::{DeploymentId, EmitterId, RunnableId},
    time::EpochMs,
};
use headwater_platform::{
    DeploymentSummary, DeploymentView, PlatformError, SendRecord, SendState, SendWay,
    WorkflowRunView,
};
use maud::{Markup, html};
use url::form_urlencoded::byte_serialize;

use super::{
    RunPath,
    run_actions::{self, Refused},
    run_steps::{self, Steps},
};
use crate::{
    address::{self, Address as _},
    page::configured::Things,
    part::{
        event_list::live_bar,
        icon::{Icon, icon},
        outcome::trigger,
        run_status,
        state::{Tone, state},
        text, time,
        tree::Tree,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Bytes of an event that the address of a form takes along.
const EDITED_BYTES_MAX: usize = 4_096;

/// Shows a run.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor, path: RunPath) -> PageReply {
    page(&ui, &visitor, &path, None).await
}

/// The page, with the answer of a wait as it was refused.
pub(super) async fn page(
    ui: &Ui,
    visitor: &Visitor,
    path: &RunPath,
    refused: Option<&Refused>,
) -> PageReply {
    let view = path.view(ui, visitor).await?;
    let workflow = ui
        .platform
        .workflow(visitor.caller(), &path.workflow)
        .await?;
    let name = &workflow.workflow.name;
    let current = &workflow.workflow.deployment_id;
    let followed = match &view.run.deployment_id {
        Some(id) => {
            let found = ui
                .platform
                .workflow_deployment(visitor.caller(), &path.workflow, Some(id));
            match found.await {
                Ok(found) => Some(found),
                Err(PlatformError::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            }
        }
        None => None,
    };
    let base = path.base();
    let list = path.workflow.address();
    let is_open = view.run.status.is_open();
    let workspace = workflow.workflow.owner.workspace_id.as_ref();
    let nodes = followed.iter().flat_map(|followed| &followed.nodes);
    let values = nodes.flat_map(|node| node.settings.values());
    let things = Things::of(ui, visitor, workspace, values).await?;
    let steps = Steps {
        things: &things,
        view: &view,
        followed: followed.as_ref(),
        base: &base,
        visitor,
    };
    let body = html! {
        @if is_open { (live_bar()) }
        div data-part="run" data-goes-on=[is_open.then_some("")] {
            p.crumbs { a href="/workflows" { "Workflows" } " / " a href=(list) { (text::line(name)) } " / " a href={ (list) "/runs" } { "Runs" } }
            header.title {
                h1 { "Run of " (text::line(name)) }
                (run_status::of_run(view.run.status))
                (buttons(&view, &base, current, &visitor.location))
            }
            (facts(&view, followed.as_ref(), &list, visitor.now_ms))
            @if let Some(error) = &view.run.error {
                p.wrong role="alert" { (icon(Icon::Warning)) (text::sentence(error)) }
            }
            (run_actions::waits(&view, &base, refused, visitor.now_ms))
            (run_steps::course(&steps))
            (run_steps::list(&steps))
            (sends(&view.sends))
            (emitted(&view))
            (event(&view, &base))
        }
    };
    let page = Page::of(Section::Workflows, format!("Run of {name}"), body)
        .command(format!("headwater runs describe {}", path.run))
        .command(format!("headwater workflows logs {}", path.run));
    Ok(match is_open {
        true => page.changing(&Topic::Run(path.run.clone()), visitor),
        false => page,
    })
}

fn buttons(view: &WorkflowRunView, base: &str, newest: &DeploymentId, location: &str) -> Markup {
    let own = view.run.deployment_id.as_ref();
    let other = own.filter(|own| *own != newest);
    html! {
        div.actions {
            @if view.run.status.is_open() {
                a.button href=(location) { "Load again" }
                a.button.danger href={ (base) "/cancel" } { "Cancel" }
            } @else if view.event.is_some() {
                a.button href={ (base) "/replay" } data-key="r" title=(newest) { (icon(Icon::Play)) "Replay with the newest code" }
                @if let Some(own) = other {
                    a.button href={ (base) "/replay?deployment=same" } title=(own) { (icon(Icon::Play)) "Replay with the same code" }
                }
                @if let Some(address) = edited(view) { a.button href=(address) { "Run with an edited event" } }
            }
        }
    }
}

/// The form that starts a run by hand, with the run's event in it, if that is small enough for an address.
fn edited(view: &WorkflowRunView) -> Option<String> {
    let event = view.event.as_deref()?.get();
    let event = (event.len() <= EDITED_BYTES_MAX).then_some(event)?;
    let event: String = byte_serialize(event.as_bytes()).collect();
    Some(format!("{}/run?event={event}", view.workflow_id.address()))
}

fn facts(
    view: &WorkflowRunView,
    followed: Option<&DeploymentView>,
    list: &str,
    now_ms: EpochMs,
) -> Markup {
    let run = &view.run;
    html! {
        dl.facts {
            dt { "Cause" } dd { (trigger(run.trigger)) }
            dt { "Queued" } dd { (time::exact(run.queued_at_ms)) " (" (time::ago(run.queued_at_ms, now_ms)) ")" }
            @if let Some(started) = run.started_at_ms {
                dt { "Waited" } dd { (time::took(started.since(run.queued_at_ms))) }
                dt { "Took" } dd {
                    (time::took(run.ended_at_ms.unwrap_or(now_ms).since(started)))
                    @if run.ended_at_ms.is_none() { " so far" }
                }
            }
            dt { "Deployment" } dd { (deployment(followed.map(|view| &view.deployment), list, now_ms)) }
            @if let Some(of) = &view.run.replay_of { dt { "Replay of" } dd { a href={ (list) "/runs/" (of) } title=(of) { "another run" } } }
            @if let Some(reason) = view.reason.as_ref().filter(|reason| !reason.is_empty()) { dt { "Ended early" } dd { (text::sentence(reason)) } }
            dt { "Trace" } dd { code { (view.trace_id) } }
            dt { "Id" } dd { code { (run.id) } }
        }
    }
}

/// A deployment with its age.
pub(super) fn deployment(
    deployment: Option<&DeploymentSummary>,
    list: &str,
    now_ms: EpochMs,
) -> Markup {
    html! {
        @match deployment {
            Some(deployment) => {
                a href={ (list) "/steps?deployment=" (deployment.id) } title=(deployment.id) { "deployed " (time::ago(deployment.created_at_ms, now_ms)) }
                @if deployment.is_current { ", the newest" }
            }
            None => { "the newest when it begins" }
        }
    }
}

fn sends(sends: &[SendRecord]) -> Markup {
    let tree = |name: &str, value: &str| {
        let value = serde_json::from_str(value).unwrap_or_default();
        Tree {
            part: None,
            name,
            at: "",
            from: None,
            raw: None,
        }
        .markup(&value)
    };
    html! {
        @if !sends.is_empty() {
            h2 { "Messages" }
            @for send in sends {
                details.part {
                    summary { (send_state(send.state)) " " (way(send.way)) " of " code { (text::visible(&send.id.path)) } ", " (text::counted(send.attempts.into(), "attempt", "attempts")) }
                    h3 { "Message" } (tree("message", send.value.get()))
                    @if let Some(result) = &send.result { h3 { "Last attempt" } (tree("result", result.get())) }
                }
            }
        }
    }
}

fn emitted(view: &WorkflowRunView) -> Markup {
    let emitter = EmitterId::from(RunnableId::from(view.workflow_id.clone()));
    html! {
        @if !view.emitted.is_empty() {
            h2 { "Emitted events" }
            ul {
                @for event in &view.emitted {
                    li {
                        a href=(address::of_event(&emitter, &event.id)) { code { (event.id) } }
                        @if !event.channel.name().is_empty() { " on " code { (text::visible(event.channel.name())) } }
                    }
                }
            }
            @if view.has_more_emitted { p.note { "There are more; the newest are on the workflow's page of events." } }
        }
    }
}

fn send_state(of: SendState) -> Markup {
    match of {
        SendState::Pending => state(Tone::Busy, "pending"),
        SendState::Sent => state(Tone::Good, "sent"),
        SendState::Failed => state(Tone::Bad, "failed"),
    }
}

fn way(way: SendWay) -> &'static str {
    match way {
        SendWay::Http => "request",
        SendWay::Email => "mail",
        SendWay::S3 => "object",
    }
}

fn event(view: &WorkflowRunView, base: &str) -> Markup {
    html! {
        h2 #event { "Event" }
        @match &view.event {
            Some(event) => { (run_steps::value(event, "steps.trigger.event", &format!("{base}/value?of=event"))) }
            None => { p.note { "It is not kept, so the run cannot be replayed." } }
        }
    }
}
