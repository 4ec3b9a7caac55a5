//! `/settings/variables`: what steps of workflows see as `process.env`. Values are never shown.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_platform::{PlatformError, VariableView};
use maud::{Markup, html};
use serde::Deserialize;

use super::page;
use crate::{
    fields::Fields,
    part::{
        code::{copyable, quoted},
        confirm::{Question, confirm},
        empty::empty,
        icon::{Icon, icon},
        text, time,
    },
    problem::{Problem, capital},
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

const PATH: &str = "/settings/variables";

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Given {
    name: String,
    value: String,
}

/// The variable to delete.
#[derive(Deserialize)]
pub(crate) struct Named {
    name: String,
}

/// Lists the variables.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let name = visitor.parameter("name").unwrap_or_default();
    list(&ui, &visitor, &name, None).await
}

async fn list(ui: &Ui, visitor: &Visitor, name: &str, wrong: Option<&str>) -> PageReply {
    let workspace = visitor.workspace.clone();
    let variables = ui.platform.variables(visitor.caller(), workspace).await?;
    let body = html! {
        p.note { "Code and expressions of workflows read them as " code { "process.env.NAME" } ". They are stored encrypted, and no page or request returns a value." }
        @if variables.is_empty() {
            (empty("There are no variables here yet.", html! { p { (copyable("headwater variables set API_TOKEN")) } }))
        } @else { (table(visitor, &variables)) }
        h2 { "Set a variable" }
        form method="post" action=(visitor.to(PATH)) autocomplete="off" {
            @if let Some(wrong) = wrong { p.wrong role="alert" #wrong { (icon(Icon::Warning)) (wrong) } }
            div.field {
                label for="variable" { "Name" }
                input #variable type="text" name="name" value=(name) required maxlength="100" spellcheck="false" autocomplete="off"
                    aria-describedby=[wrong.map(|_| "wrong")];
                p.hint { "Letters, digits and " code { "_" } ". A variable of that name is replaced." }
            }
            div.field {
                label for="value" { "Value" }
                input #value type="password" name="value" required autocomplete="new-password";
            }
            button.primary { "Set" }
        }
    };
    Ok(page(visitor, "variables", body)
        .command("headwater variables list")
        .command("headwater variables set NAME"))
}

fn table(visitor: &Visitor, variables: &[VariableView]) -> Markup {
    let parameter = if visitor.workspace.is_some() {
        "&name="
    } else {
        "?name="
    };
    html! {
        table.list {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Value" } th scope="col" { "Set" } th scope="col" { "Change" } } }
            tbody {
                @for variable in variables {
                    tr {
                        th scope="row" { code { (text::visible(&variable.name)) } }
                        td data-label="Value" { span.note { "set, not shown" } }
                        td data-label="Set" { (time::ago(variable.updated_at.to_ms(), visitor.now_ms)) }
                        td data-label="Change" {
                            a href={ (visitor.to(PATH)) (parameter) (variable.name) "#variable" } { "Replace" } " "
                            a href={ (visitor.to("/settings/variables/delete")) (parameter) (variable.name) } { "Delete" }
                        }
                    }
                }
            }
        }
    }
}

/// Sets a variable.
pub(crate) async fn set(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Given>,
) -> Result<Response, Problem> {
    let (name, workspace) = (given.name.trim(), visitor.workspace.clone());
    let set = ui
        .platform
        .set_variable(visitor.caller(), workspace, name, &given.value);
    match set.await {
        Ok(_) => {
            let line = format!("{name} is set: steps that begin from now on see it");
            Ok(see_other_saying(&visitor, &visitor.to(PATH), &line))
        }
        Err(error @ (PlatformError::Invalid(_) | PlatformError::Conflict(_))) => {
            let page = list(&ui, &visitor, name, Some(&capital(&error.to_string()))).await?;
            let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
            Ok(page.into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks whether to delete a variable.
pub(crate) async fn ask_to_delete(visitor: Visitor) -> PageReply {
    let name = visitor.parameter("name").unwrap_or_default();
    let question = Question {
        title: &format!("Delete {name}?"),
        consequences: html! { p { "Steps that begin from then on do not see it; an expression that reads it gets nothing. Its value cannot be read again." } },
        action: &visitor.to("/settings/variables/delete"),
        fields: &[("name", &name)],
        button: "Delete the variable",
        back: &visitor.to(PATH),
    };
    Ok(
        Page::of(Section::Settings, "Delete a variable", confirm(&question))
            .command(format!("headwater variables delete {}", quoted(&name))),
    )
}

/// Deletes a variable.
pub(crate) async fn delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Named>,
) -> FormReply {
    let workspace = visitor.workspace.clone();
    ui.platform
        .delete_variable(visitor.caller(), workspace, &given.name)
        .await?;
    let line = format!("{} is deleted", given.name);
    Ok(see_other_saying(&visitor, &visitor.to(PATH), &line))
}
