//! `/sources/{id}/code`: the code of a source, to be read and changed.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::{id::SourceId, prop::ConfiguredProps};
use headwater_platform::{CallTarget, ComponentRef, SavedComponent, UpdateSource};
use maud::{Markup, html};

use super::head::Shown;
use crate::{
    fields::Fields,
    page::deploy::{
        code::{Written, editor, failed, input},
        component::check_type,
        failure::{NOT_SAVED, NOT_TRIED},
        trial::{self, Tried},
    },
    part::{
        icon::{Icon, icon},
        text,
    },
    path::PathId,
    problem::Problem,
    reply::{FormReply, Page, PageReply, Section, see_other, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Shows the code.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let component = component(&ui, &visitor, &shown).await?;
    let code = component.code.clone();
    Ok(page(&shown, &component, &code, None))
}

/// Updates the source with the code, or saves the code and goes on to the values.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
    Fields(given): Fields<Written>,
) -> FormReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let base = shown.base();
    if given.action == "try" {
        return attempt(&ui, &visitor, &shown, &given.code).await;
    }
    let changed = match given.action.as_str() {
        "save" => {
            let workspace = shown.view.source.owner.workspace_id.clone();
            let written = input(&given.code);
            let saved = ui
                .platform
                .save_component(visitor.caller(), &written, workspace);
            match saved.await {
                Ok(kept) => {
                    check_type(&kept.component)?;
                    return Ok(see_other(&format!(
                        "{base}/edit?component={}",
                        kept.component.id
                    )));
                }
                Err(error) => Err(error),
            }
        }
        _ => {
            let request = UpdateSource {
                component: input(&given.code),
                ..UpdateSource::default()
            };
            ui.platform
                .update_source(visitor.caller(), &id, request)
                .await
        }
    };
    match changed {
        Ok(view) => {
            let said = format!("{} runs the new code", view.source.spec.name);
            Ok(see_other_saying(&visitor, &base, &said))
        }
        Err(error) => {
            let failed = failed(error, NOT_SAVED, &given.code)?;
            let component = component(&ui, &visitor, &shown).await?;
            let page = page(&shown, &component, &given.code, Some(failed));
            Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response())
        }
    }
}

/// Runs the code once with the values of the source, which goes on as it is.
async fn attempt(ui: &Arc<Ui>, visitor: &Visitor, shown: &Shown, code: &str) -> FormReply {
    let source = &shown.view.source;
    let (platform, caller) = (&ui.platform, visitor.caller());
    let workspace = source.owner.workspace_id.clone();
    let tried = match platform
        .save_component(caller, &input(code), workspace)
        .await
    {
        Ok(kept) => {
            check_type(&kept.component)?;
            let hooks = kept.component.description.hooks;
            let target = CallTarget {
                component: ComponentRef::Id(kept.component.id),
                workspace_id: None,
                source_id: Some(source.id.clone()),
                configured_props: ConfiguredProps::new(),
            };
            let tried = platform.try_source(caller, &target, None).await;
            tried.map(|report| (report, hooks))
        }
        Err(error) => Err(error),
    };
    let (above, status) = match tried {
        Ok((report, hooks)) => (
            trial::result(&report, Tried::Draft(hooks), None),
            StatusCode::OK,
        ),
        Err(error) => (
            failed(error, NOT_TRIED, code)?,
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
    };
    let component = component(ui, visitor, shown).await?;
    let page = page(shown, &component, code, Some(above));
    Ok(page.with_status(status).into_response())
}

async fn component(ui: &Ui, visitor: &Visitor, shown: &Shown) -> Result<SavedComponent, Problem> {
    let source = &shown.view.source;
    let reference = ComponentRef::Id(source.spec.component_id.clone());
    let workspace = source.owner.workspace_id.clone();
    Ok(ui
        .platform
        .component(visitor.caller(), &reference, workspace)
        .await?)
}

fn page(shown: &Shown, component: &SavedComponent, code: &str, failed: Option<Markup>) -> Page {
    let base = shown.base();
    let body = html! {
        p.crumbs { a href="/sources" { "Sources" } " / " a href=(base) { (text::line(shown.name())) } }
        h1 { "Code of " (text::value(shown.name())) }
        p.note {
            code { (component.id) }
            @if let Some(url) = &component.code_url { " from " code { (text::line(url)) } }
            " · SHA-256 " code { (component.code_hash.as_str()) }
        }
        @if let Some(failed) = failed { (failed) }
        form method="post" action={ (base) "/code" } data-busy="Building…" {
            (editor(code))
            div.actions {
                button.primary name="action" value="update" data-saves { (icon(Icon::Ok)) "Update the source" }
                button name="action" value="save" { (icon(Icon::Next)) "Save, then its values" }
                button name="action" value="try" data-tests { (icon(Icon::Play)) "Try it" }
                a.button.quiet href={ (base) "/config" } { "Cancel" }
            }
        }
        p.note { "Updating keeps the values that the source has, its endpoint, its events and its key-value map. If the new code cannot be built or activated, the present code goes on." }
    };
    Page::of(Section::Sources, format!("Code of {}", shown.name()), body)
        .command(format!("headwater update {} FILE.mjs", shown.quoted()))
}
