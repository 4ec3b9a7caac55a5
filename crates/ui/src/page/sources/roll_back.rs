//! `/sources/{id}/versions/{deployment}/roll_back`: asks once more, then takes a former deployment up again.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_platform::SourceDeploymentDetail;
use maud::{Markup, html};

use super::{
    head::Shown,
    versions::{VersionPath, by, component},
};
use crate::{
    address::Address as _,
    page::deploy::failure::Failure,
    part::{
        confirm::{Question, confirm},
        time,
    },
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Asks whether to roll a source back.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: VersionPath,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &path.source).await?;
    let detail = path.detail(&ui, &visitor).await?;
    Ok(page(&shown, &detail, &visitor, None))
}

/// Rolls a source back.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: VersionPath,
) -> FormReply {
    let rolled_back =
        ui.platform
            .roll_back_source(visitor.caller(), &path.source, &path.deployment);
    match rolled_back.await {
        Ok(view) => {
            let said = format!("{} is rolled back", view.source.spec.name);
            let list = format!("{}/versions", path.source.address());
            Ok(see_other_saying(&visitor, &list, &said))
        }
        Err(error) => {
            let failure = Failure::of(error)?;
            let shown = Shown::of(&ui, &visitor, &path.source).await?;
            let detail = path.detail(&ui, &visitor).await?;
            let page = page(
                &shown,
                &detail,
                &visitor,
                Some(failure.markup("It was not rolled back")),
            );
            Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response())
        }
    }
}

fn page(
    shown: &Shown,
    detail: &SourceDeploymentDetail,
    visitor: &Visitor,
    failed: Option<Markup>,
) -> Page {
    let deployment = &detail.view.deployment;
    let version = format!("{}/versions/{}", shown.base(), deployment.id);
    let question = Question {
        title: &format!("Roll {} back?", shown.name()),
        consequences: html! {
            p {
                "It runs the code, the values and the secrets of the version that " (by(deployment)) " deployed "
                (time::ago(deployment.created_at_ms, visitor.now_ms)) ": " (component(deployment)) "."
            }
            p { "Its name, its endpoints, its events and its key-value map stay as they are, and it stays paused if it is." }
            p {
                "As in any update, " code { "deactivate" } " of the running version runs, then " code { "activate" }
                " of this one. If that fails, the running version goes on. The running version is kept, so that you can come back to it."
            }
        },
        action: &format!("{version}/roll_back"),
        fields: &[],
        button: "Roll back",
        back: &version,
    };
    let body = html! {
        @if let Some(failed) = failed { (failed) }
        (confirm(&question))
    };
    Page::of(
        Section::Sources,
        format!("Roll {} back", shown.name()),
        body,
    )
    .command(format!(
        "headwater roll-back {} {}",
        shown.quoted(),
        deployment.id
    ))
}
