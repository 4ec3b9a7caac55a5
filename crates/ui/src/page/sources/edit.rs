//! `/sources/{id}/edit`: the form of a source's values, for its present code or for code that was just written.

use std::sync::Arc;

use axum::{extract::State, response::IntoResponse as _};
use headwater_model::id::SourceId;
use headwater_platform::{ComponentRef, SourceView};

use crate::{
    fields::Fields,
    form::Entered,
    page::deploy::{
        component::{check_type, has_code, parameters},
        findings::Findings,
        submission,
        wizard::Wizard,
    },
    path::PathId,
    problem::Problem,
    reply::{FormReply, PageReply},
    state::Ui,
    visit::Visitor,
};

/// Shows the form with the values that the source has.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let view = ui.platform.source(visitor.caller(), &id).await?;
    let wizard = wizard(&ui, &visitor, view).await?;
    let mut entered = wizard.stored();
    entered.overlay(Entered::linked(parameters(&visitor)));
    Ok(wizard
        .page(&ui, &visitor, &entered, &Findings::default())
        .await?)
}

/// Loads what the form asks for, or updates the source.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
    Fields(fields): Fields<Vec<(String, String)>>,
) -> FormReply {
    let view = ui.platform.source(visitor.caller(), &id).await?;
    let wizard = wizard(&ui, &visitor, view).await?;
    let reply = submission::answer(&ui, &visitor, wizard, Entered::new(fields)).await?;
    Ok(reply.into_response())
}

async fn wizard(ui: &Ui, visitor: &Visitor, view: SourceView) -> Result<Wizard, Problem> {
    let source = &view.source;
    let other = visitor.parameter("component");
    let reference = match &other {
        Some(text) => ComponentRef::parse(text),
        None => ComponentRef::Id(source.spec.component_id.clone()),
    };
    let workspace = source.owner.workspace_id.clone();
    let component = ui
        .platform
        .component(visitor.caller(), &reference, workspace.clone())
        .await?;
    check_type(&component)?;
    let code = has_code(visitor).then(|| component.code.clone());
    let action = match (&code, other) {
        (Some(_), _) => Wizard::with_code(visitor, Some(&source.id), &component.id),
        (None, Some(_)) => format!("/sources/{}/edit?component={}", source.id, component.id),
        (None, None) => format!("/sources/{}/edit", source.id),
    };
    Ok(Wizard {
        action,
        code,
        component,
        workspace,
        source: Some(view),
    })
}
