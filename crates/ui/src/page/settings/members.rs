//! `/settings/members?workspace=`: the members of a workspace.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::{
    id::{UserId, WorkspaceId},
    limits::PAGE_LIMIT_MAX,
    page::PageRequest,
};
use headwater_platform::{PlatformError, User};
use maud::{Markup, html};
use serde::Deserialize;

use super::page;
use crate::{
    fields::Fields,
    part::{
        code::quoted,
        confirm::{Question, confirm},
        empty::empty,
        icon::{Icon, icon},
        pager::{Ends, pager},
        text, time,
    },
    path::PathId,
    problem::Problem,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::{Visit, Visitor},
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct New {
    user: String,
}

/// Lists the members of the workspace in the address, or of the first one.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    list(&ui, &visitor, "", None).await
}

/// The list, and the form with what was entered.
async fn list(ui: &Ui, visitor: &Visitor, typed: &str, wrong: Option<&str>) -> PageReply {
    let Some(id) = chosen(visitor) else {
        let none = empty(
            "You are a member of no workspace.",
            html! { p { "Things in a workspace belong to all of its members. Create one with " code { "headwater workspaces create ORGNAME" } "." } },
        );
        return Ok(page(visitor, "members", none));
    };
    let members = ui
        .platform
        .members(visitor.caller(), &id, &visitor.page_request())
        .await?;
    let is_last = members.total_count == 1;
    let body = html! {
        (workspaces(visitor, &id))
        (table(visitor, &id, &members.items, is_last))
        (pager(visitor, &Ends::of(&members, |user| &user.id)))
        h2 { "Add a member" }
        form method="post" action=(address(&id, "")) {
            @if let Some(wrong) = wrong { p.wrong role="alert" #wrong { (icon(Icon::Warning)) (text::sentence(wrong)) } }
            div.field {
                label for="user" { "User" }
                input #user type="text" name="user" value=(typed) required spellcheck="false" autocomplete="off"
                    aria-describedby=[wrong.map(|_| "wrong")] aria-invalid=[wrong.map(|_| "true")];
                p.hint { "The name or id of a user of this node. They see and change everything in the workspace." }
            }
            button.primary { (icon(Icon::Plus)) "Add" }
        }
    };
    Ok(page(visitor, "members", body).command(format!("headwater workspaces members list {id}")))
}

/// The workspace in the address, or the first one.
fn chosen(visit: &Visit) -> Option<WorkspaceId> {
    let signed_in = visit.signed_in.as_ref()?;
    let first = signed_in.caller.identity.workspaces.first();
    let first = first.map(|workspace| workspace.id.clone());
    visit.workspace.clone().or(first)
}

fn address(workspace: &WorkspaceId, rest: &str) -> String {
    format!("/settings/members{rest}?workspace={workspace}")
}

fn workspaces(visitor: &Visitor, current: &WorkspaceId) -> Markup {
    html! {
        ul.chips aria-label="Workspaces" {
            @for workspace in &visitor.caller().identity.workspaces {
                li { a href=(address(&workspace.id, "")) aria-current=[(workspace.id == *current).then_some("true")] { (text::line(&workspace.name)) } }
            }
        }
    }
}

fn table(visitor: &Visitor, workspace: &WorkspaceId, members: &[User], is_last: bool) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Name" }
                    th scope="col" { "Mail" }
                    th scope="col" { "User since" }
                    th scope="col" { "Id" }
                    th scope="col" { "Remove" }
                }
            }
            tbody {
                @for user in members {
                    tr {
                        th scope="row" { (text::line(&user.username)) @if user.id == *visitor.caller().user_id() { " " span.note { "(you)" } } }
                        td data-label="Mail" { (text::line(&user.email)) }
                        td data-label="User since" { (time::ago(user.created_at.to_ms(), visitor.now_ms)) }
                        td data-label="Id" { code { (user.id) } }
                        td data-label="Remove" {
                            @if is_last { span.note { "the last member stays" } }
                            @else { a href=(address(workspace, &format!("/{}/remove", user.id))) { "Remove" } }
                        }
                    }
                }
            }
        }
    }
}

/// Adds a member.
pub(crate) async fn add(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<New>,
) -> FormReply {
    let id = named(&visitor)?;
    let typed = given.user.trim();
    let added = ui.platform.add_member(visitor.caller(), &id, typed).await;
    match added {
        Ok(user) => {
            let line = format!("{} is a member", user.username);
            Ok(see_other_saying(&visitor, &address(&id, ""), &line))
        }
        Err(PlatformError::NotFound { kind: "user", .. }) => {
            let wrong = format!("This node has no user `{typed}`. Enter their name or their id.");
            let page = list(&ui, &visitor, typed, Some(&wrong)).await?;
            let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
            Ok(page.into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// The workspace that a form is about.
fn named(visitor: &Visitor) -> Result<WorkspaceId, Problem> {
    let workspace = visitor.workspace.clone();
    workspace.ok_or_else(|| Problem::not_found("workspace", ""))
}

/// Asks whether to remove a member.
pub(crate) async fn ask_to_remove(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(user): PathId<UserId>,
) -> PageReply {
    let id = named(&visitor)?;
    let workspace = ui.platform.workspace(visitor.caller(), &id).await?;
    let name = &workspace.workspace.name;
    let all = PageRequest::first(PAGE_LIMIT_MAX);
    let members = ui.platform.members(visitor.caller(), &id, &all).await?;
    let member = members.items.iter().find(|member| member.id == user);
    // Of more members than these, the question names the id.
    if member.is_none() && members.total_count <= u64::from(PAGE_LIMIT_MAX) {
        return Err(Problem::not_found("member", user.as_str()));
    }
    let username = member.map_or(user.as_str(), |member| member.username.as_str());
    let is_self = user == *visitor.caller().user_id();
    let question = Question {
        title: &match is_self {
            true => format!("Leave {name}?"),
            false => format!("Remove {username} from {name}?"),
        },
        consequences: html! {
            p { "Things that they created in the workspace stay there and pass to another member. Webhooks and subscriptions of theirs get its events no more." }
            @if is_self { p { b { "You will not see the workspace any more, unless a member adds you again." } } }
        },
        action: &address(&id, &format!("/{user}/remove")),
        fields: &[],
        button: "End the membership",
        back: &address(&id, ""),
    };
    Ok(
        Page::of(Section::Settings, "End a membership", confirm(&question)).command(format!(
            "headwater workspaces members remove {id} {}",
            quoted(user.as_str())
        )),
    )
}

/// Removes a member.
pub(crate) async fn remove(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(user): PathId<UserId>,
) -> FormReply {
    let id = named(&visitor)?;
    match ui
        .platform
        .remove_member(visitor.caller(), &id, &user)
        .await
    {
        Ok(()) | Err(PlatformError::NotFound { kind: "member", .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let target = match user == *visitor.caller().user_id() {
        true => "/settings/members".to_owned(),
        false => address(&id, ""),
    };
    Ok(see_other_saying(
        &visitor,
        &target,
        "The membership is ended",
    ))
}
