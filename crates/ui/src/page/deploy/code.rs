//! `/deploy/code`: a component that is written in the browser. Saving builds it; then its props are asked for.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::{error::Invalid, prop::ConfiguredProps};
use headwater_platform::{CallTarget, ComponentInput, ComponentRef, PlatformError, SavedComponent};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    component::check_type,
    event::Sent,
    failure::{Failure, NOT_SAVED, NOT_TRIED},
    findings::Findings,
    syntax::Fault,
    templates::{TEMPLATES, template},
    trial::{self, Tried},
    wizard::{Wizard, workspace_of},
};
use crate::{
    assets::{EDITOR, FORMS},
    fields::Fields,
    form::{Entered, Wrong, missing},
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
    #[serde(flatten)]
    pub(crate) event: Sent,
}

/// Shows the editor with a template.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let chosen = visitor
        .parameter("template")
        .and_then(|slug| template(&slug));
    let chosen = chosen.unwrap_or(&TEMPLATES[0]);
    let event = Sent::default().field(&ui, &visitor, None).await?;
    let shown = Shown {
        code: chosen.code,
        template: Some(chosen.slug),
        event,
        above: None,
    };
    Ok(page(&visitor, &shown))
}

/// Builds and saves the component, and goes on to its props, or runs it once.
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
    let (above, status) = match saved.await {
        Ok(kept) => {
            check_type(&kept.component)?;
            if given.action != "try" {
                let target = Wizard::with_code(&visitor, None, &kept.component.id);
                return Ok(see_other(&target));
            }
            let props = &kept.component.description.props;
            let lacking = missing(
                props,
                &ConfiguredProps::new(),
                |_| false,
                |app| ui.app_name(app).to_owned(),
            );
            if !lacking.is_empty() {
                return asked(&ui, &visitor, kept.component, (&given, lacking)).await;
            }
            attempt(&ui, &visitor, &kept.component, &given).await?
        }
        Err(error) => refused(failed(error, NOT_SAVED, &given.code)?),
    };
    let shown = Shown {
        code: &given.code,
        template: None,
        event: given.event.field(&ui, &visitor, None).await?,
        above: Some(above),
    };
    Ok(page(&visitor, &shown).with_status(status).into_response())
}

fn refused(told: Markup) -> (Markup, StatusCode) {
    (told, StatusCode::UNPROCESSABLE_ENTITY)
}

/// Runs the code once.
async fn attempt(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    component: &SavedComponent,
    given: &Written,
) -> Result<(Markup, StatusCode), Problem> {
    let target = CallTarget {
        component: ComponentRef::Id(component.id.clone()),
        workspace_id: workspace_of(visitor),
        source_id: None,
        configured_props: ConfiguredProps::new(),
    };
    let tried = match given.event.value(ui, visitor, None).await {
        Ok(event) => {
            let tried = ui.platform.try_source(visitor.caller(), &target, event);
            tried.await
        }
        Err(error) => Err(error),
    };
    Ok(match tried {
        Ok(report) => {
            let hooks = component.description.hooks;
            let result = trial::result(&report, Tried::Draft(hooks), None);
            (result, StatusCode::OK)
        }
        Err(error) => refused(failed(error, NOT_TRIED, &given.code)?),
    })
}

/// The form of the values that a trial needs, beside the code.
async fn asked(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    component: SavedComponent,
    (given, wrong): (&Written, Vec<Wrong>),
) -> FormReply {
    let wizard = Wizard {
        action: Wizard::with_code(visitor, None, &component.id),
        code: Some(component.code.clone()),
        component,
        source: None,
        workspace: workspace_of(visitor),
    };
    let findings = Findings {
        wrong,
        ..Findings::default()
    };
    let mut entered = Entered::default();
    given.event.keep(&mut entered);
    let page = wizard.page(ui, visitor, &entered, &findings).await?;
    Ok(page.into_response())
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

/// The field that code is written in. Without script, the Tab key leaves it. A browser keeps a draft of what is not saved.
pub(crate) fn editor(code: &str, is_saved: bool) -> Markup {
    html! {
        div.code-field {
            label for="code" { "Code" }
            textarea.code #code name="code" rows=(code.lines().count().clamp(18, 40)) required spellcheck="false" autocomplete="off" autocapitalize="off" wrap="off"
                data-editor=(EDITOR.path()) data-language="javascript" data-script=(FORMS.path()) data-draft=(if is_saved { "saved" } else { "open" }) {
                "\n" (code)
            }
            p.hint.note data-editor-note hidden { kbd { "Tab" } " indents; " kbd { "Esc" } ", then " kbd { "Tab" } " leaves the editor. " kbd { "Ctrl" } "+" kbd { "S" } " saves, " kbd { "Ctrl" } "+" kbd { "Enter" } " tries, " kbd { "Ctrl" } "+" kbd { "F" } " searches." }
        }
    }
}

/// The parts of the page that differ.
struct Shown<'a> {
    code: &'a str,
    /// The template that the code is, untouched.
    template: Option<&'static str>,
    /// The field of the event for a trial.
    event: Markup,
    /// The end of a trial, or the reason why something was not done.
    above: Option<Markup>,
}

fn page(visitor: &Visitor, shown: &Shown<'_>) -> Page {
    let body = html! {
        p.crumbs { a href=(visitor.to("/deploy")) { "Deploy" } }
        h1 { "Write a source" }
        @if let Some(above) = &shown.above { (above) }
        nav aria-label="Templates" {
            ul.chips {
                @for template in &TEMPLATES {
                    li {
                        a href=(visitor.with(&[("template", Some(template.slug))])) aria-current=[(shown.template == Some(template.slug)).then_some("true")] { (template.name) }
                    }
                }
            }
        }
        form method="post" action=(visitor.to("/deploy/code")) data-busy="Building…" {
            (editor(shown.code, shown.template.is_some()))
            (shown.event)
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
