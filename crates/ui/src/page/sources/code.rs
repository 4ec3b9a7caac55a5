//! `/sources/{id}/code`: the code of a source, to be read and changed.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::{id::SourceId, prop::ConfiguredProps};
use headwater_platform::{CallTarget, ComponentRef, PlatformError, SavedComponent, UpdateSource};
use maud::{Markup, html};

use super::head::Shown;
use crate::{
    fields::Fields,
    page::deploy::{
        code::{Written, editor, failed, input},
        component::check_type,
        event::Sent,
        failure::{NOT_SAVED, NOT_TRIED},
        trial::{self, Tried},
        wizard::Wizard,
    },
    part::{
        diff::diff,
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
    let event = Sent::default().field(&ui, &visitor, Some(&id)).await?;
    Ok(page(&shown, &component, (&code, event), None))
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
    match given.action.as_str() {
        "try" => return attempt(&ui, &visitor, &shown, &given).await,
        "diff" => {
            let component = component(&ui, &visitor, &shown).await?;
            let above = changes(&component.code, &given.code.replace("\r\n", "\n"));
            return again(&ui, &visitor, &shown, (&given, above)).await;
        }
        _ => {}
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
                    let target = Wizard::with_code(&visitor, Some(&id), &kept.component.id);
                    return Ok(see_other(&target));
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
            let mut reply = again(&ui, &visitor, &shown, (&given, failed)).await?;
            *reply.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(reply)
        }
    }
}

/// The page with the code as it was sent.
async fn again(
    ui: &Ui,
    visitor: &Visitor,
    shown: &Shown,
    (given, above): (&Written, Markup),
) -> FormReply {
    let component = component(ui, visitor, shown).await?;
    let source = Some(&shown.view.source.id);
    let event = given.event.field(ui, visitor, source).await?;
    let page = page(shown, &component, (&given.code, event), Some(above));
    Ok(page.into_response())
}

/// The lines that an update would change.
fn changes(deployed: &str, written: &str) -> Markup {
    html! {
        section.card #changes aria-labelledby="changes-title" {
            h2 #changes-title { "Changes to the code that is deployed" }
            @match diff(deployed, written) {
                Some(lines) => (lines),
                None => p { "There are none." },
            }
        }
    }
}

/// Runs the code once with the values of the source, which goes on as it is. Where the code needs other values, they are
/// asked for beside it.
async fn attempt(ui: &Arc<Ui>, visitor: &Visitor, shown: &Shown, given: &Written) -> FormReply {
    let source = &shown.view.source;
    let (platform, caller) = (&ui.platform, visitor.caller());
    let workspace = source.owner.workspace_id.clone();
    let input = input(&given.code);
    let saved = match platform.save_component(caller, &input, workspace).await {
        Ok(kept) => kept.component,
        Err(error) => return untried(ui, visitor, shown, (given, error)).await,
    };
    check_type(&saved)?;
    let target = CallTarget {
        component: ComponentRef::Id(saved.id.clone()),
        workspace_id: None,
        source_id: Some(source.id.clone()),
        configured_props: ConfiguredProps::new(),
    };
    let tried = match given.event.value(ui, visitor, Some(&source.id)).await {
        Ok(event) => platform.try_source(caller, &target, event).await,
        Err(error) => Err(error),
    };
    match tried {
        Ok(report) => {
            let hooks = saved.description.hooks;
            let result = trial::result(&report, Tried::Draft(hooks), None);
            again(ui, visitor, shown, (given, result)).await
        }
        Err(error @ PlatformError::InvalidProps(_)) => {
            let wizard = Wizard {
                action: Wizard::with_code(visitor, Some(&source.id), &saved.id),
                code: Some(saved.code.clone()),
                component: saved,
                workspace: source.owner.workspace_id.clone(),
                source: Some(shown.view.clone()),
            };
            wizard.untried(ui, visitor, &given.event, error).await
        }
        Err(error) => untried(ui, visitor, shown, (given, error)).await,
    }
}

async fn untried(
    ui: &Ui,
    visitor: &Visitor,
    shown: &Shown,
    (given, error): (&Written, PlatformError),
) -> FormReply {
    let failed = failed(error, NOT_TRIED, &given.code)?;
    let mut reply = again(ui, visitor, shown, (given, failed)).await?;
    *reply.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    Ok(reply)
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

fn page(
    shown: &Shown,
    component: &SavedComponent,
    (code, event): (&str, Markup),
    above: Option<Markup>,
) -> Page {
    let base = shown.base();
    let is_saved = code.replace("\r\n", "\n") == component.code.replace("\r\n", "\n");
    let body = html! {
        p.crumbs { a href="/sources" { "Sources" } " / " a href=(base) { (text::line(shown.name())) } }
        h1 { "Code of " (text::value(shown.name())) }
        p.note {
            code { (component.id) }
            @if let Some(url) = &component.code_url { " from " code { (text::line(url)) } }
            " · SHA-256 " code { (component.code_hash.as_str()) }
        }
        @if let Some(above) = above { (above) }
        form method="post" action={ (base) "/code" } data-busy="Building…" {
            (editor(code, is_saved))
            (event)
            div.actions {
                button.primary name="action" value="update" data-saves { (icon(Icon::Ok)) "Update the source" }
                button name="action" value="diff" data-at-once { "See the changes" }
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
