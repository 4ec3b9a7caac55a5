//! `/settings/users`: the users of the node, for its administrator.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_model::{id::UserId, limits::PAGE_LIMIT_MAX, page::PageRequest};
use headwater_platform::{NewUser, PlatformError, User};
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
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Default, Deserialize)]
pub(crate) struct New {
    #[serde(default)]
    username: String,
    #[serde(default)]
    email: String,
}

/// Lists the users.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    list(&ui, &visitor, &New::default(), None).await
}

async fn list(ui: &Ui, visitor: &Visitor, given: &New, wrong: Option<&str>) -> PageReply {
    let users = ui
        .platform
        .users(visitor.caller(), &visitor.page_request())
        .await?;
    let body = html! {
        (table(visitor, &users.items))
        (pager(visitor, &Ends::of(&users, |user| &user.id)))
        h2 { "Create a user" }
        form method="post" action="/settings/users" {
            @if let Some(wrong) = wrong { p.wrong role="alert" #wrong { (icon(Icon::Warning)) (wrong) } }
            div.field {
                label for="username" { "Name" }
                input #username type="text" name="username" value=(given.username) required maxlength="64" spellcheck="false" autocomplete="off"
                    aria-describedby=[wrong.map(|_| "wrong")];
                p.hint { "Letters, digits, dots, underscores and hyphens." }
            }
            div.field {
                label for="email" { "Mail" }
                input #email type="email" name="email" value=(given.email) required autocomplete="off";
            }
            button.primary { (icon(Icon::Plus)) "Create" }
        }
    };
    Ok(page(visitor, "users", body)
        .command("headwater users list")
        .command("headwater users create NAME EMAIL"))
}

fn table(visitor: &Visitor, users: &[User]) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Name" }
                    th scope="col" { "Mail" }
                    th scope="col" { "Rights" }
                    th scope="col" { "Created" }
                    th scope="col" { "Id" }
                    th scope="col" { "Delete" }
                }
            }
            tbody {
                @for user in users {
                    tr {
                        th scope="row" { (text::line(&user.username)) @if user.id == *visitor.caller().user_id() { " " span.note { "(you)" } } }
                        td data-label="Mail" { (text::line(&user.email)) }
                        td data-label="Rights" { @if user.is_admin { "administrator" } @else { "user" } }
                        td data-label="Created" { (time::ago(user.created_at.to_ms(), visitor.now_ms)) }
                        td data-label="Id" { code { (user.id) } }
                        td data-label="Delete" {
                            @if user.is_admin { span.note { "stays" } }
                            @else { a href={ "/settings/users/" (user.id) "/delete" } { "Delete" } }
                        }
                    }
                }
            }
        }
    }
}

/// Creates a user and shows their first key.
pub(crate) async fn create(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<New>,
) -> Result<Response, Problem> {
    let (username, email) = (given.username.trim(), given.email.trim());
    let created = ui
        .platform
        .create_user(visitor.caller(), username.to_owned(), email.to_owned());
    match created.await {
        Ok(new) => Ok(shown_once(&new).into_response()),
        Err(error @ (PlatformError::Invalid(_) | PlatformError::Conflict(_))) => {
            let wrong = capital(&error.to_string());
            let page = list(&ui, &visitor, &given, Some(&wrong)).await?;
            let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
            Ok(page.into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// The page that shows the first key of a user.
fn shown_once(new: &NewUser) -> Page {
    let body = html! {
        h1 { (text::value(&new.user.username)) }
        section.card {
            p { b { "Their key is shown only here." } " Give it to them; with it they sign in, and can create others:" }
            p { (copyable(&new.api_key)) }
            p { a.button.primary href="/settings/users" { "Done" } }
        }
    };
    Page::of(Section::Settings, "A new user", body)
}

/// Asks whether to delete a user.
pub(crate) async fn ask_to_delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<UserId>,
) -> PageReply {
    let all = PageRequest::first(PAGE_LIMIT_MAX);
    let users = ui.platform.users(visitor.caller(), &all).await?;
    let user = users.items.iter().find(|user| user.id == id);
    // Of more users than these, the question names the id.
    if user.is_none() && users.total_count <= u64::from(PAGE_LIMIT_MAX) {
        return Err(Problem::not_found("user", id.as_str()));
    }
    let name = user.map_or(id.as_str(), |user| user.username.as_str());
    let question = Question {
        title: &format!("Delete the user {name}?"),
        consequences: html! {
            p { "Their keys, sessions, accounts, files and subscriptions go with them. Things that they created in a workspace pass to another member." }
            p { "A user who has sources, workflows or webhooks of their own cannot be deleted: delete those first." }
        },
        action: &format!("/settings/users/{id}/delete"),
        fields: &[],
        button: "Delete the user",
        back: "/settings/users",
    };
    Ok(
        Page::of(Section::Settings, "Delete a user", confirm(&question))
            .command(format!("headwater users delete {id}")),
    )
}

/// Deletes a user.
pub(crate) async fn delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<UserId>,
) -> FormReply {
    ui.platform.delete_user(visitor.caller(), &id).await?;
    Ok(see_other_saying(
        &visitor,
        "/settings/users",
        "The user is deleted",
    ))
}
