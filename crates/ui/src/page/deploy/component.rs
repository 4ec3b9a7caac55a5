//! `/deploy/{component_ref}`: the form of a component's props, by its id, its key, a published version, or a file of a
//! package.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::IntoResponse as _,
};
use headwater_model::component::ComponentType;
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
    let entered = Entered::linked(parameters(&visitor));
    let page = wizard
        .page(&ui, &visitor, &entered, &Findings::default())
        .await?;
    Ok(page.into_response())
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
    submission::answer(&ui, &visitor, &wizard, Entered::new(fields)).await
}

async fn wizard(ui: &Ui, visitor: &Visitor, reference: &str) -> Result<Wizard, Problem> {
    let workspace = workspace_of(visitor);
    let found = ComponentRef::parse(reference);
    let component = ui
        .platform
        .component(visitor.caller(), &found, workspace.clone())
        .await?;
    check_type(&component)?;
    Ok(Wizard {
        component,
        source: None,
        workspace,
        // Of the same workspace; without the values that the form has now.
        action: visitor.to(visitor.path()),
    })
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
