//! `/deploy/code`: a component that is written in the browser. Saving builds it; then its props are asked for.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::{error::Invalid, prop::ConfiguredProps};
use headwater_platform::{CallTarget, ComponentInput, ComponentRef, PlatformError};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    card::address,
    component::check_type,
    failure::{Failure, NOT_SAVED, NOT_TRIED},
    syntax::Fault,
    templates::{TEMPLATES, template},
    trial::{self, Tried},
    wizard::workspace_of,
};
use crate::{
    assets::EDITOR,
    fields::Fields,
    part::{
        icon::{Icon, icon},
        text,
    },
    problem::{Problem, capital},
    reply::{FormReply, Page, PageReply, Section, see_other},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Written {
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) action: String,
}

/// Shows the editor with a template.
pub(crate) async fn show(visitor: Visitor) -> PageReply {
    let chosen = visitor
        .parameter("template")
        .and_then(|slug| template(&slug));
    let chosen = chosen.unwrap_or(&TEMPLATES[0]);
    Ok(page(&visitor, chosen.code, Some(chosen.slug), None))
}

/// Builds and saves the component, and goes on to its props.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Written>,
) -> FormReply {
    let input = input(&given.code);
    let workspace = workspace_of(&visitor);
    let saved = ui
        .platform
        .save_component(visitor.caller(), &input, workspace);
    let component = match saved.await {
        Ok(kept) => {
            check_type(&kept.component)?;
            kept.component
        }
        Err(error) => {
            let failed = failed(error, NOT_SAVED, &given.code)?;
            let page = page(&visitor, &given.code, None, Some(failed));
            return Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response());
        }
    };
    if given.action != "try" {
        return Ok(see_other(&visitor.to(&address(component.id.as_str()))));
    }
    let hooks = component.description.hooks;
    let target = CallTarget {
        component: ComponentRef::Id(component.id),
        workspace_id: workspace_of(&visitor),
        source_id: None,
        configured_props: ConfiguredProps::new(),
    };
    match ui
        .platform
        .try_source(visitor.caller(), &target, None)
        .await
    {
        Ok(report) => {
            let tried = trial::result(&report, Tried::Draft(hooks), None);
            Ok(page(&visitor, &given.code, None, Some(tried)).into_response())
        }
        Err(error) => {
            let failed = failed(error, NOT_TRIED, &given.code)?;
            let page = page(&visitor, &given.code, None, Some(failed));
            Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response())
        }
    }
}

/// The code as it is saved. Browsers end lines with two characters.
pub(crate) fn input(code: &str) -> ComponentInput {
    ComponentInput {
        component_code: Some(code.replace("\r\n", "\n")),
        ..ComponentInput::default()
    }
}

/// The reason why code was not saved, above the code as it was; other errors have a page of their own.
pub(crate) fn failed(error: PlatformError, title: &str, code: &str) -> Result<Markup, Problem> {
    if let PlatformError::Component { error, .. } = &error
        && let Some(fault) = Fault::of(error)
    {
        return Ok(fault.markup(code, title));
    }
    let (message, stack) = match Failure::of(error)? {
        Failure::Code { message, stack } => (message, stack),
        Failure::Value(invalid) => {
            let Invalid { field, reason } = invalid;
            let message =
                format!("The value of {field} {reason}. Save the code, and go on to its values.");
            (message, None)
        }
        Failure::Told(message) => (capital(&message), None),
    };
    let (line, more) = message.split_once('\n').unwrap_or((&message, ""));
    Ok(html! {
        section.summary-of-errors role="alert" tabindex="-1" #errors {
            h2 { (icon(Icon::Failed)) (title) }
            p { (text::sentence(line)) }
            @if !more.trim().is_empty() { pre tabindex="0" { (text::value(more.trim_matches('\n'))) } }
            @if let Some(stack) = stack { (text::stack(&stack)) }
        }
    })
}

/// The field that code is written in. Without script, the Tab key leaves it.
pub(crate) fn editor(code: &str) -> Markup {
    html! {
        div.code-field {
            label for="code" { "Code" }
            textarea.code #code name="code" rows=(code.lines().count().clamp(18, 40)) required spellcheck="false" autocomplete="off" autocapitalize="off" wrap="off"
                data-editor=(EDITOR.path()) data-language="javascript" {
                "\n" (code)
            }
            p.hint.note data-editor-note hidden { kbd { "Tab" } " indents; " kbd { "Esc" } ", then " kbd { "Tab" } " leaves the editor. " kbd { "Ctrl" } "+" kbd { "S" } " saves, " kbd { "Ctrl" } "+" kbd { "Enter" } " tries, " kbd { "Ctrl" } "+" kbd { "F" } " searches." }
        }
    }
}

fn page(visitor: &Visitor, code: &str, chosen: Option<&str>, failed: Option<Markup>) -> Page {
    let body = html! {
        p.crumbs { a href=(visitor.to("/deploy")) { "Deploy" } }
        h1 { "Write a source" }
        @if let Some(failed) = failed { (failed) }
        nav aria-label="Templates" {
            ul.chips {
                @for template in &TEMPLATES {
                    li {
                        a href=(visitor.with(&[("template", Some(template.slug))])) aria-current=[(chosen == Some(template.slug)).then_some("true")] { (template.name) }
                    }
                }
            }
        }
        form method="post" action=(visitor.to("/deploy/code")) data-busy="Building…" {
            (editor(code))
            div.actions {
                button.primary name="action" value="save" data-saves { (icon(Icon::Next)) "Save, then its values" }
                button name="action" value="try" data-tests { (icon(Icon::Play)) "Try it" }
                a.button.quiet href=(visitor.to("/deploy")) { "Cancel" }
            }
        }
        p.note { "A module whose default export is the component. Packages from npm are imported by their names, and are kept at the versions that they have now." }
    };
    Page::of(Section::Sources, "Write a source", body).command("headwater deploy FILE.mjs")
}
