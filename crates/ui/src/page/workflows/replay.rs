//! `/workflows/{id}/runs/{run}/replay?from=&deployment=`: says what a replay does again and what it skips, then starts it.

use std::{collections::BTreeSet, sync::Arc};

use axum::extract::State;
use headwater_platform::{DeploymentView, ReplayPlan, RunReplay, WorkflowRunView};
use maud::{Markup, html};
use serde::Deserialize;

use super::{RunPath, run::deployment};
use crate::{
    address::{self, Address as _},
    fields::Fields,
    part::{code::quoted, text},
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Replay {
    #[serde(default)]
    from: String,
    #[serde(default)]
    deployment: String,
}

impl Replay {
    fn request(&self) -> RunReplay {
        RunReplay {
            from: Some(self.from.clone()).filter(|from| !from.is_empty()),
            is_same: self.deployment == "same",
        }
    }
}

/// Tells what a replay would do, and asks.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor, path: RunPath) -> PageReply {
    let view = path.view(&ui, &visitor).await?;
    let asked = Replay {
        from: visitor.parameter("from").unwrap_or_default(),
        deployment: visitor.parameter("deployment").unwrap_or_default(),
    };
    let request = asked.request();
    let plan = ui
        .platform
        .replay_plan(visitor.caller(), &path.run, &request)
        .await?;
    let followed = ui
        .platform
        .workflow_deployment(visitor.caller(), &path.workflow, Some(&plan.deployment_id))
        .await?;
    let base = path.base();
    let title = match &request.from {
        Some(from) => format!("Run again from {from}?"),
        None => "Run it again from the start?".to_owned(),
    };
    let list = path.workflow.address();
    let body = html! {
        section.confirm {
            h1 { (title) }
            p { "A new run begins with the same event. It follows the code " (deployment(Some(&followed.deployment), &list, visitor.now_ms)) "." }
            (other_version(&view, &visitor, &request, &plan))
            (skipped(&plan))
            (done_again(&followed, &plan))
            form.actions method="post" action={ (base) "/replay" } {
                input type="hidden" name="from" value=(asked.from);
                input type="hidden" name="deployment" value=(asked.deployment);
                button.primary { "Replay with the " @if followed.deployment.is_current { "newest" } @else { "former" } " code" }
                a.button.quiet href=(base) { "Back to the run" }
            }
        }
    };
    let mut command = format!("headwater workflows replay {}", path.run);
    if let Some(from) = &request.from {
        command.push_str(&format!(" --from {}", quoted(from)));
    }
    if request.is_same {
        command.push_str(" --same");
    }
    Ok(Page::of(Section::Workflows, "Replay a run", body).command(command))
}

/// The way to the same question about the other deployment, if the run followed another one.
fn other_version(
    view: &WorkflowRunView,
    visitor: &Visitor,
    request: &RunReplay,
    plan: &ReplayPlan,
) -> Markup {
    let own = view.run.deployment_id.as_ref();
    html! {
        @if request.is_same {
            p { a href=(visitor.with(&[("deployment", None)])) { "Follow the newest deployment instead" } }
        } @else if let Some(own) = own && *own != plan.deployment_id {
            p { "The run itself followed " code { (own) } ". " a href=(visitor.with(&[("deployment", Some("same"))])) { "Follow that one instead" } }
        }
    }
}

fn skipped(plan: &ReplayPlan) -> Markup {
    html! {
        @if plan.kept.is_empty() {
            p { "Nothing is skipped: every step runs again." }
        } @else {
            p { "These are skipped, and their results are used again:" }
            ul { @for path in &plan.kept { li { code { (text::visible(&path.to_string())) } } } }
        }
    }
}

/// The steps that run again, whose effects outside happen again.
fn done_again(followed: &DeploymentView, plan: &ReplayPlan) -> Markup {
    let kept: BTreeSet<String> = plan.kept.iter().map(ToString::to_string).collect();
    let nodes = followed.nodes.iter();
    let again = nodes.filter(|node| {
        node.kind == "step" && !node.is_disabled && !kept.contains(&node.path.to_string())
    });
    let again: Vec<_> = again.collect();
    html! {
        @if !again.is_empty() {
            p { "These may run again, with everything that they do outside:" }
            ul {
                @for node in again {
                    li { code { (text::visible(&node.path.to_string())) } @if let Some(uses) = &node.uses { " " span.note { (text::visible(uses)) } } }
                }
            }
        }
    }
}

/// Starts the replay and goes to its page.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: RunPath,
    Fields(given): Fields<Replay>,
) -> FormReply {
    path.view(&ui, &visitor).await?;
    let (started, _) = ui
        .platform
        .replay_run(visitor.caller(), &path.run, &given.request())
        .await?;
    let target = address::of_workflow_run(&path.workflow, &started);
    Ok(see_other_saying(&visitor, &target, "The replay has begun"))
}
