//! `/settings/keys`: API keys. A key is shown once, when it is new.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_model::{id::KeyId, limits::PAGE_LIMIT_MAX, page::PageRequest};
use headwater_platform::{ApiKey, PlatformError};
use maud::{Markup, html};
use serde::Deserialize;

use super::page;
use crate::{
    fields::Fields,
    part::{
        code::copyable,
        confirm::{Question, confirm},
        icon::{Icon, icon},
        pager::{Ends, pager},
        text, time,
    },
    path::PathId,
    problem::{Problem, capital},
    reply::{Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct New {
    #[serde(default)]
    name: String,
}

/// Lists the keys.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    list(&ui, &visitor, None).await
}

/// Creates a key and shows it.
pub(crate) async fn create(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<New>,
) -> Result<Response, Problem> {
    let new = ui.platform.create_key(visitor.caller(), &given.name, None);
    match new.await {
        Ok(new) => Ok(shown_once(&new.key.name, &new.secret).into_response()),
        Err(error @ PlatformError::Invalid(_)) => {
            let page = list(&ui, &visitor, Some(&capital(&error.to_string()))).await?;
            let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
            Ok(page.into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// The page that shows a new key.
fn shown_once(name: &str, secret: &str) -> Page {
    let body = html! {
        h1 { (text::value(name)) }
        // Loading the page again must not create another one.
        section.card data-address="/settings/keys" {
            p { b { "The key is shown only here." } " Keep it where its user reads it:" }
            p { (copyable(secret)) }
            p { a.button.primary href="/settings/keys" { "Done" } }
        }
    };
    Page::of(Section::Settings, "A new key", body)
}

async fn list(ui: &Ui, visitor: &Visitor, wrong: Option<&str>) -> PageReply {
    let wanted = visitor.parameter("key");
    let request = match wanted {
        Some(_) => PageRequest::first(PAGE_LIMIT_MAX),
        None => visitor.page_request(),
    };
    let mut keys = ui.platform.keys(visitor.caller(), None, &request).await?;
    let is_only = keys.total_count == 1;
    if let Some(id) = &wanted {
        keys.items.retain(|key| key.id.as_str() == id);
        if keys.items.is_empty() {
            return Err(Problem::not_found("key", id));
        }
    }
    let body = html! {
        p.note { "A key opens the API, the commands and this UI as you. Give each use its own, so that one can be revoked alone." }
        (table(visitor, &keys.items, is_only))
        @if wanted.is_some() { p { a href="/settings/keys" { "Show all keys" } } }
        @else { (pager(visitor, &Ends::of(&keys, |key| &key.id))) }
        h2 { "Create a key" }
        form method="post" action="/settings/keys" {
            @if let Some(wrong) = wrong { p.wrong role="alert" #wrong { (icon(Icon::Warning)) (wrong) } }
            div.field {
                label for="name" { "Purpose" }
                input #name type="text" name="name" required maxlength="100" autocomplete="off" aria-describedby=[wrong.map(|_| "wrong")];
            }
            button.primary { (icon(Icon::Plus)) "Create" }
        }
    };
    Ok(page(visitor, "keys", body)
        .command("headwater keys list")
        .command("headwater keys create NAME"))
}

fn table(visitor: &Visitor, keys: &[ApiKey], is_only: bool) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Purpose" }
                    th scope="col" { "Last used" }
                    th scope="col" { "Created" }
                    th scope="col" { "Id" }
                    th scope="col" { "Revoke" }
                }
            }
            tbody {
                @for key in keys {
                    tr {
                        th scope="row" {
                            (text::line(&key.name))
                            @if key.id == *visitor.caller().key_id() { " " span.note { "(signed this browser in)" } }
                        }
                        td data-label="Last used" {
                            @match key.last_used_at { Some(at) => { (time::ago(at.to_ms(), visitor.now_ms)) } None => { span.note { "never" } } }
                        }
                        td data-label="Created" { (time::ago(key.created_at.to_ms(), visitor.now_ms)) }
                        td data-label="Id" { code { (key.id) } }
                        td data-label="Revoke" {
                            @if is_only { span.note { "your only key: create another one first" } }
                            @else { a href={ "/settings/keys/" (key.id) "/revoke" } { "Revoke" } }
                        }
                    }
                }
            }
        }
    }
}

/// Asks whether to revoke a key.
pub(crate) async fn ask_to_revoke(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<KeyId>,
) -> PageReply {
    let all = PageRequest::first(PAGE_LIMIT_MAX);
    let keys = ui.platform.keys(visitor.caller(), None, &all).await?;
    let key = keys.items.iter().find(|key| key.id == id);
    // Of more keys than these, the question names the id.
    if key.is_none() && keys.total_count <= u64::from(PAGE_LIMIT_MAX) {
        return Err(Problem::not_found("key", id.as_str()));
    }
    let name = key.map_or(id.as_str(), |key| key.name.as_str());
    let is_own = id == *visitor.caller().key_id();
    let question = Question {
        title: &format!("Revoke the key {name}?"),
        consequences: html! {
            p { "It opens nothing from then on, for good. Programs that use it get 401, streams that it opened end, and browsers that it signed in are signed out." }
            @if is_own { p { b { "This browser is one of them." } } }
            @if let Some(used) = key.and_then(|key| key.last_used_at) { p { "It was last used " (time::ago(used.to_ms(), visitor.now_ms)) "." } }
        },
        action: &format!("/settings/keys/{id}/revoke"),
        fields: &[],
        button: "Revoke the key",
        back: "/settings/keys",
    };
    Ok(
        Page::of(Section::Settings, "Revoke a key", confirm(&question))
            .command(format!("headwater keys revoke {id}")),
    )
}

/// Revokes a key.
pub(crate) async fn revoke(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<KeyId>,
) -> Result<Response, Problem> {
    ui.platform.revoke_key(visitor.caller(), &id).await?;
    Ok(see_other_saying(
        &visitor,
        "/settings/keys",
        "The key is revoked",
    ))
}
