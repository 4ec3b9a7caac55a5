//! `/workflows/{id}/deployments/{deployment}/roll_back`: asks once more, then deploys the files of a former deployment.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_platform::DeploymentSummary;
use maud::{Markup, html};

use super::{deployment::DeploymentPath, head::Shown};
use crate::{
    page::deploy::failure::Failure,
    part::{
        confirm::{Question, confirm_busy},
        empty::empty,
        time,
    },
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Asks whether to roll a workflow back.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: DeploymentPath,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &path.workflow).await?;
    let view = path.view(&ui, &visitor).await?;
    Ok(match (view.deployment.is_current, view.files.is_empty()) {
        (true, _) => nothing(&shown, "New runs follow this deployment already."),
        (false, true) => nothing(&shown, "The files of this deployment are not kept."),
        (false, false) => page(&shown, &view.deployment, &visitor, None),
    })
}

/// The reason why there is nothing to ask.
fn nothing(shown: &Shown, reason: &str) -> Page {
    let settings = format!("{}/settings", shown.base());
    let body = html! {
        h1 { "Roll back" }
        (empty(reason, html! { p { a href=(settings) { "Choose another deployment" } } }))
    };
    Page::of(Section::Workflows, "Roll back", body)
}

/// Rolls a workflow back.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: DeploymentPath,
) -> FormReply {
    let rolled_back =
        ui.platform
            .roll_back_workflow(visitor.caller(), &path.workflow, &path.deployment);
    match rolled_back.await {
        Ok(deployed) => {
            let workflow = &deployed.workflow.workflow;
            let said = format!("{} is rolled back", workflow.name);
            let list = format!("/workflows/{}/settings", workflow.id);
            Ok(see_other_saying(&visitor, &list, &said))
        }
        Err(error) => {
            let failure = Failure::of(error)?;
            let shown = Shown::of(&ui, &visitor, &path.workflow).await?;
            let view = path.view(&ui, &visitor).await?;
            let failed = failure.markup("It was not rolled back");
            let page = page(&shown, &view.deployment, &visitor, Some(failed));
            Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response())
        }
    }
}

fn page(
    shown: &Shown,
    deployment: &DeploymentSummary,
    visitor: &Visitor,
    failed: Option<Markup>,
) -> Page {
    let of_it = format!("{}/deployments/{}", shown.base(), deployment.id);
    let question = Question {
        title: &format!("Roll {} back?", shown.name()),
        consequences: html! {
            p {
                "The files that were deployed " (time::ago(deployment.created_at_ms, visitor.now_ms))
                " become a new deployment, with the code and the packages that its steps had. New runs follow it, and runs that have begun go on with theirs."
            }
            p {
                "Triggers stay on or off as they are, and keep their addresses; one that the current deployment does not have gets a new address. "
                "The sources of triggers are updated, deployed or deleted as its " code { "workflow.yaml" } " says. If any of that fails, the current deployment stays; a source that was updated before stays updated."
            }
            p.note { "The folder on your disk stays as it is: the next " code { "headwater workflows deploy" } " deploys that again." }
        },
        action: &format!("{of_it}/roll_back"),
        fields: &[],
        button: "Roll back",
        back: &of_it,
    };
    let body = html! {
        @if let Some(failed) = failed { (failed) }
        (confirm_busy(&question, "Deploying…"))
    };
    Page::of(
        Section::Workflows,
        format!("Roll {} back", shown.name()),
        body,
    )
    .command(format!(
        "headwater roll-back {} {}",
        shown.quoted(),
        deployment.id
    ))
}
