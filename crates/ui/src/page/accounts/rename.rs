//! `/accounts/{id}/rename`: another name for people; sources keep using the account.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::id::AccountId;
use headwater_platform::{AccountView, PlatformError, UpdateAccount};
use maud::html;
use serde::Deserialize;

use crate::{
    fields::Fields,
    part::{
        code::quoted,
        icon::{Icon, icon},
        text,
    },
    path::PathId,
    problem::capital,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Rename {
    name: String,
}

/// Asks for the name.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<AccountId>,
) -> PageReply {
    let view = ui.platform.account(visitor.caller(), &id).await?;
    Ok(form(&view, &view.account.name, None))
}

/// Renames the account.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<AccountId>,
    Fields(given): Fields<Rename>,
) -> FormReply {
    let caller = visitor.caller();
    let update = UpdateAccount {
        name: Some(given.name.clone()),
        fields: None,
    };
    match ui.platform.update_account(caller, &id, update).await {
        Ok(renamed) => {
            let line = format!("It is called {} now", renamed.account.name);
            Ok(see_other_saying(
                &visitor,
                &format!("/accounts/{id}"),
                &line,
            ))
        }
        Err(error @ PlatformError::Invalid(_)) => {
            let view = ui.platform.account(caller, &id).await?;
            let page = form(&view, &given.name, Some(&capital(&error.to_string())));
            Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response())
        }
        Err(error) => Err(error.into()),
    }
}

fn form(view: &AccountView, given: &str, wrong: Option<&str>) -> Page {
    let account = &view.account;
    let base = format!("/accounts/{}", account.id);
    let body = html! {
        p.crumbs { a href="/accounts" { "Accounts" } " / " a href=(base) { (text::line(&account.name)) } }
        header.title { h1 { "Rename the account" } }
        form method="post" action={ (base) "/rename" } {
            @if let Some(wrong) = wrong { div.summary-of-errors role="alert" #wrong { (icon(Icon::Warning)) a href="#name" { (wrong) } } }
            div.field {
                label for="name" { "Name" }
                input #name name="name" required maxlength="256" value=(given) autocomplete="off" aria-invalid=[wrong.map(|_| "true")] autofocus;
                p.hint { "Sources keep using it: they choose accounts by id." }
            }
            div.actions { button.primary { "Rename" } a.button.quiet href=(base) { "Keep the name" } }
        }
    };
    Page::of(Section::Accounts, "Rename an account", body).command(format!(
        "headwater accounts rename {} NAME",
        quoted(&account.name)
    ))
}
