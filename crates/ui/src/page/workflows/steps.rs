//! `/workflows/{id}/steps`: the definition of a deployment, as a drawing and as a nested list.

use std::{sync::Arc, time::Duration};

use axum::extract::State;
use headwater_model::id::{DeploymentId, WorkflowId};
use headwater_platform::NodeOutline;
use maud::{Markup, html};
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use super::{
    head::Shown,
    outline::{bodies, drawn, roots},
};
use crate::{
    page::configured::Things,
    part::{
        empty::empty,
        graph::graph,
        state::{Tone, state},
        text, time,
    },
    path::PathId,
    problem::Problem,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Shows the steps of a deployment: that in the address, or the current one.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let wanted = match visitor.parameter("deployment") {
        Some(text) => {
            let parsed = text.parse::<DeploymentId>();
            Some(parsed.map_err(|_| Problem::not_found("deployment", &text))?)
        }
        None => None,
    };
    let view = ui
        .platform
        .workflow_deployment(visitor.caller(), &id, wanted.as_ref())
        .await?;
    let deployment = &view.deployment;
    let (steps, handlers) = roots(&view.nodes);
    let workspace = shown.view.workflow.owner.workspace_id.as_ref();
    let values = view.nodes.iter().flat_map(|node| node.settings.values());
    let things = Things::of(&ui, &visitor, workspace, values).await?;
    let body = html! {
        (shown.head(&visitor, "steps"))
        p.note {
            span title=(deployment.id) { "Deployed " (time::ago(deployment.created_at_ms, visitor.now_ms)) } ". "
            @if deployment.is_current { "New runs follow it." }
            @else { "New runs follow another one: " a href={ (shown.base()) "/steps" } { "show that" } "." }
        }
        @if view.nodes.is_empty() {
            (empty("It has no steps.", html! { p { "Runs of it succeed at once. Add " code { "steps" } " to " code { "workflow.yaml" } ", and deploy it again." } }))
        }
        @if let Some(graph) = graph(&drawn(&view.nodes, &steps)) { (graph) }
        (list(&view.nodes, &steps, &things))
        @if !handlers.is_empty() {
            h2 { "After a failure that nothing handles" }
            (list(&view.nodes, &handlers, &things))
        }
        h2 { "Files" }
        @let page = format!("{}/deployments/{}", shown.base(), deployment.id);
        ul.files {
            @for file in &view.files {
                @let query: String = byte_serialize(file.as_bytes()).collect();
                li { a href={ (page) "?file=" (query) "#file" } { (text::line(file)) } }
            }
        }
    };
    Ok(Page::of(
        Section::Workflows,
        format!("{} · steps", shown.name()),
        body,
    )
    .command(format!(
        "headwater deployments describe {} {}",
        shown.quoted(),
        deployment.id
    )))
}

fn list(nodes: &[NodeOutline], steps: &[&NodeOutline], things: &Things) -> Markup {
    html! { @if !steps.is_empty() { ol.outline { @for node in steps { li { (item(nodes, node, things)) } } } } }
}

fn item(nodes: &[NodeOutline], node: &NodeOutline, things: &Things) -> Markup {
    html! {
        p {
            b { (text::line(&node.namespace)) } " "
            span.kind { (node.kind) }
            @if let Some(uses) = &node.uses { " " code { (text::visible(uses)) } }
            @if node.kind == "step" && node.uses.is_none() { " " span.note { "code in the file itself" } }
            @if node.is_disabled { " " (state(Tone::Quiet, "disabled")) }
        }
        @if let Some(notes) = &node.notes { p.note { (text::value(notes)) } }
        @if let Some(condition) = &node.condition { p { "only if " code { (text::visible(condition)) } } }
        (given(node, things))
        @for body in bodies(nodes, node) {
            @if let Some(name) = body.name {
                p.branch {
                    @if name == "on_error" { "if it fails" } @else { b { (text::line(name)) } }
                    @if let Some(condition) = body.condition { " if " code { (text::visible(condition)) } }
                }
            }
            @if body.steps.is_empty() { p.note { "nothing" } }
            (list(nodes, &body.steps, things))
        }
        @if node.on_error == "continue" { p.note { "If it fails, the run goes on." } }
    }
}

/// The length of a delay or a wait, which blocks have in milliseconds.
fn span(node: &NodeOutline, name: &str, value: &Value) -> Option<Duration> {
    let is_span = node.kind != "step" && matches!(name, "for" | "timeout");
    value
        .as_u64()
        .filter(|_| is_span)
        .map(Duration::from_millis)
}

/// The props of a step, or the keys of a block, and its bounds.
pub(crate) fn given(node: &NodeOutline, things: &Things) -> Markup {
    html! {
        @if !node.settings.is_empty() || node.timeout_ms.is_some() || node.attempts.is_some() {
            dl.facts {
                @for (name, value) in &node.settings {
                    dt { (text::line(name)) }
                    dd {
                        @if node.secrets.contains(name) { span.note { "set, not shown" } }
                        @else if let Some(span) = span(node, name, value) { (time::took(span)) }
                        @else if let Value::String(text) = value { code { (text::visible(text)) } }
                        @else { (things.value(name, value, false, None)) }
                    }
                }
                @if let Some(ms) = node.timeout_ms { dt { "Time limit" } dd { (time::took(Duration::from_millis(ms))) } }
                @if let Some(attempts) = node.attempts { dt { "Tries" } dd { (attempts) } }
            }
        }
    }
}
