//! `/settings/profile`: the user, and the workspaces that they are in.

use axum::extract::State;
use maud::html;
use std::sync::Arc;

use super::page;
use crate::{
    part::{empty::empty, text, time},
    reply::PageReply,
    state::Ui,
    visit::Visitor,
};

/// Shows the user.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let view = ui.platform.me(visitor.caller()).await?;
    let user = &view.identity.user;
    let workspaces = &view.identity.workspaces;
    let body = html! {
        dl.facts {
            dt { "Name" } dd { (text::value(&user.username)) }
            dt { "Mail" } dd { (text::value(&user.email)) }
            dt { "Id" } dd { code { (user.id) } }
            dt { "Since" } dd { (time::ago(user.created_at.to_ms(), visitor.now_ms)) }
            dt { "Rights" } dd { @if user.is_admin { "administrator of this node" } @else { "user" } }
        }
        h2 { "Workspaces" }
        @if workspaces.is_empty() {
            (empty("You are a member of no workspace.", html! { p { "A member of one can add you." } }))
        } @else {
            table.list {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Orgname" } th scope="col" { "Id" } } }
                tbody { @for workspace in workspaces {
                    tr {
                        th scope="row" { a href={ "/settings/members?workspace=" (workspace.id) } { (text::line(&workspace.name)) } }
                        td data-label="Orgname" { (text::line(&workspace.orgname)) }
                        td data-label="Id" { code { (workspace.id) } }
                    }
                } }
            }
        }
    };
    Ok(page(&visitor, "profile", body).command("headwater whoami"))
}
