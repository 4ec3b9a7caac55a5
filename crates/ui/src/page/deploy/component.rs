//! `/deploy/{component_ref}`: the form of a component's props, by its id, its key, a published version, or a file of a
//! package.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::IntoResponse as _,
};
use headwater_model::{component::ComponentType, id::SourceId};
use headwater_platform::{ComponentRef, SavedComponent};
use url::form_urlencoded;

use super::{
    findings::Findings,
    npm, submission,
    wizard::{Wizard, workspace_of},
};
use crate::{
    fields::Fields,
    form::Entered,
    problem::Problem,
    reply::FormReply,
    state::Ui,
    visit::{Visit, Visitor},
};

/// Shows the form, with the values of the address.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path(reference): Path<String>,
) -> FormReply {
    if reference.starts_with("npm:") {
        return Ok(npm::ask(&visitor, &reference).into_response());
    }
    let wizard = wizard(&ui, &visitor, &reference).await?;
    let mut entered = match visitor.parameter("like") {
        Some(source) => like(&ui, &visitor, &wizard, &source).await?,
        None => Entered::default(),
    };
    entered.overlay(Entered::linked(parameters(&visitor)));
    let page = wizard
        .page(&ui, &visitor, &entered, &Findings::default())
        .await?;
    Ok(page.into_response())
}

/// The values of a source, for another one like it. Its secrets have to be entered again.
async fn like(
    ui: &Ui,
    visitor: &Visitor,
    wizard: &Wizard,
    source: &str,
) -> Result<Entered, Problem> {
    let unknown = || Problem::not_found("source", source);
    let id: SourceId = source.parse().map_err(|_| unknown())?;
    let view = ui.platform.source(visitor.caller(), &id).await?;
    Ok(wizard.like(view))
}

/// Loads what the form asks for, or deploys.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path(reference): Path<String>,
    Fields(fields): Fields<Vec<(String, String)>>,
) -> FormReply {
    if reference.starts_with("npm:") {
        return npm::build(&ui, &visitor, &reference).await;
    }
    let wizard = wizard(&ui, &visitor, &reference).await?;
    submission::answer(&ui, &visitor, wizard, Entered::new(fields)).await
}

async fn wizard(ui: &Ui, visitor: &Visitor, reference: &str) -> Result<Wizard, Problem> {
    let workspace = workspace_of(visitor);
    let found = ComponentRef::parse(reference);
    let component = ui
        .platform
        .component(visitor.caller(), &found, workspace.clone())
        .await?;
    check_type(&component)?;
    let code = has_code(visitor).then(|| component.code.clone());
    // Of the same workspace; without the values that the form has now.
    let action = match code {
        Some(_) => Wizard::with_code(visitor, None, &component.id),
        None => visitor.to(visitor.path()),
    };
    Ok(Wizard {
        component,
        source: None,
        workspace,
        action,
        code,
    })
}

/// Whether the code stands beside the form.
pub(crate) fn has_code(visitor: &Visitor) -> bool {
    visitor.parameter("with").as_deref() == Some("code")
}

/// Only sources are deployed.
pub(crate) fn check_type(component: &SavedComponent) -> Result<(), Problem> {
    match component.description.component_type {
        ComponentType::Source => Ok(()),
        ComponentType::Action | ComponentType::App => Err(Problem::new(
            axum::http::StatusCode::UNPROCESSABLE_ENTITY,
            "This is not a source",
            format!(
                "`{}` is an action, which a workflow uses or `headwater run-action` runs once. Only sources are deployed.",
                component.description.name
            ),
        )),
    }
}

/// The parameters of the page's address.
pub(crate) fn parameters(visit: &Visit) -> Vec<(String, String)> {
    let query = visit
        .location
        .split_once('?')
        .map_or("", |(_, query)| query);
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}
