//! `/accounts/{id}/delete`: asks once more, with what stops working, then deletes.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::AccountId;
use headwater_platform::Revocation;
use maud::html;

use super::uses;
use crate::{
    part::{
        code::quoted,
        confirm::{Question, confirm},
        text::counted,
    },
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Users that are named.
const USES: usize = 20;

/// Asks whether to delete an account.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<AccountId>,
) -> PageReply {
    let view = ui.platform.account(visitor.caller(), &id).await?;
    let workspace = view.account.owner.workspace_id.clone();
    let users = ui
        .platform
        .account_users(visitor.caller(), workspace)
        .await?;
    let count = users.of(&id).len() as u64;
    let question = Question {
        title: &format!("Delete {}?", view.account.name),
        consequences: html! {
            @if count > 0 {
                p { (counted(count, "source or workflow", "sources and workflows")) " will fail from the next run on: " (uses::links(&users, &id, USES)) "." }
            } @else if users.is_whole { p { "No source and no workflow uses it." } }
            (uses::note(&users))
            p { "Its tokens are given back to the app first, if the app takes them. To get other credentials for the same account, reconnect it instead." }
        },
        action: &format!("/accounts/{id}/delete"),
        fields: &[],
        button: "Delete the account",
        back: &format!("/accounts/{id}"),
    };
    let title = format!("Delete {}", view.account.name);
    Ok(
        Page::of(Section::Accounts, title, confirm(&question)).command(format!(
            "headwater accounts delete {}",
            quoted(&view.account.name)
        )),
    )
}

/// Deletes an account.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<AccountId>,
) -> FormReply {
    let name = ui
        .platform
        .account(visitor.caller(), &id)
        .await?
        .account
        .name;
    let deleted = ui.platform.delete_account(visitor.caller(), &id).await?;
    let said = match deleted.revocation {
        Revocation::Revoked => format!("{name} is deleted, and its tokens are given back"),
        Revocation::NotSupported => format!("{name} is deleted"),
        Revocation::Failed(reason) => {
            format!("{name} is deleted; its tokens may still be good: {reason}")
        }
    };
    Ok(see_other_saying(&visitor, "/accounts", &said))
}
