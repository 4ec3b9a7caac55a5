//! `/data/{name}/delete`: deletes a data store, once its name was typed.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_platform::{DataStoreUser, NamedDataStore, Scanned};
use maud::html;
use serde::Deserialize;

use super::{StoreName, address, users};
use crate::{
    fields::Fields,
    part::{
        code::quoted,
        icon::{Icon, icon},
        text,
    },
    problem::Problem,
    reply::{Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    name: String,
}

/// Asks for the name.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    name: StoreName,
) -> PageReply {
    let named = name.named(&visitor);
    // A data store that is not there is not asked about.
    let users = users::of(&ui, &visitor, &named).await?;
    Ok(page(&visitor, &named, &users, false))
}

/// Deletes the data store.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    name: StoreName,
    Fields(given): Fields<Typed>,
) -> Result<Response, Problem> {
    let named = name.named(&visitor);
    if given.name.trim() != named.name {
        let users = users::of(&ui, &visitor, &named).await?;
        let page = page(&visitor, &named, &users, true);
        return Ok(page
            .with_status(StatusCode::UNPROCESSABLE_ENTITY)
            .into_response());
    }
    ui.platform
        .delete_data_store(visitor.caller(), &named)
        .await?;
    let line = format!("{} is deleted", named.name);
    Ok(see_other_saying(&visitor, &visitor.to("/data"), &line))
}

fn page(
    visitor: &Visitor,
    named: &NamedDataStore,
    users: &Scanned<DataStoreUser>,
    is_wrong: bool,
) -> Page {
    let name = &named.name;
    let body = html! {
        section.confirm {
            h1 { "Delete " (text::value(name)) "?" }
            p { "All of its records are gone then." }
            @if users.page.items.is_empty() { p { "No source and no workflow names it in its props. One that does later begins with an empty one." } }
            @else { p { "These go on with an empty one:" } }
            (users::list(users))
            form method="post" action=(address(visitor, name, "/delete", &[])) {
                @if is_wrong { p.wrong role="alert" #wrong { (icon(Icon::Warning)) "This is not its name. Nothing was deleted." } }
                div.field {
                    label for="name" { "Type the name " code { (text::visible(name)) } " to delete it" }
                    input #name type="text" name="name" required spellcheck="false" autocomplete="off"
                        aria-describedby=[is_wrong.then_some("wrong")] aria-invalid=[is_wrong.then_some("true")];
                }
                div.actions {
                    button.danger { "Delete the data store" }
                    a.button.quiet href=(address(visitor, name, "", &[])) { "Go back" }
                }
            }
        }
    };
    Page::of(Section::Data, format!("Delete {name}"), body)
        .command(format!("headwater data-stores delete {}", quoted(name)))
}
