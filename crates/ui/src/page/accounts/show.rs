//! `/accounts/{id}`: one account, its health, and what can be done about it.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{id::AccountId, time::EpochMs};
use headwater_platform::{AccountUsers, AccountView, HealthStatus};
use maud::{Markup, html};

use super::{
    creators::Creators,
    uses::{self, can_be_checked},
    waiting::Waiting,
};
use crate::{
    part::{code::quoted, history::history, text, time},
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Users that are named.
const USES: usize = 50;

/// Shows an account.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<AccountId>,
) -> PageReply {
    let view = ui.platform.account(visitor.caller(), &id).await?;
    let account = &view.account;
    let workspace = account.owner.workspace_id.as_ref();
    let users = ui
        .platform
        .account_users(visitor.caller(), workspace.cloned());
    let users = users.await?;
    let creators = Creators::of(&ui, &visitor, workspace).await?;
    let body = html! {
        p.crumbs { a href="/accounts" { "Accounts" } }
        header.title {
            h1 { (text::value(&account.name)) }
            (uses::state(&users, &view))
            (buttons(&ui, &view))
        }
        (Waiting::of(&visitor).back())
        (facts(&ui, &visitor, &view, &users, &creators))
        h2 { "Used by" }
        p { (uses::links(&users, &account.id, USES)) }
        (uses::note(&users))
    };
    Ok(
        Page::of(Section::Accounts, &account.name, body).command(format!(
            "headwater accounts check {}",
            quoted(&account.name)
        )),
    )
}

/// Asks the app whether the credentials are good.
pub(crate) async fn check(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<AccountId>,
) -> FormReply {
    let view = ui.platform.check_account(visitor.caller(), &id).await?;
    let said = match view.health.status {
        HealthStatus::Healthy => "The app accepts the credentials",
        HealthStatus::Refused => "The app does not accept the credentials: reconnect the account",
        HealthStatus::Expired => "The credentials have expired: reconnect the account",
        HealthStatus::Unknown => "It cannot be told whether the credentials are good",
    };
    Ok(see_other_saying(&visitor, &format!("/accounts/{id}"), said))
}

fn buttons(ui: &Ui, view: &AccountView) -> Markup {
    let account = &view.account;
    let base = format!("/accounts/{}", account.id);
    html! {
        div.actions {
            @if can_be_checked(ui, view) { form method="post" action={ (base) "/check" } { button { "Check now" } } }
            a.button href={ (base) "/reconnect" } { "Reconnect" }
            a.button href={ (base) "/rename" } { "Rename" }
            (history(account.id.as_str()))
            a.button.danger href={ (base) "/delete" } { "Delete" }
        }
    }
}

fn facts(
    ui: &Ui,
    visitor: &Visitor,
    view: &AccountView,
    users: &AccountUsers,
    creators: &Creators,
) -> Markup {
    let account = &view.account;
    let moment = |seconds: u64| time::ago(EpochMs(seconds * 1_000), visitor.now_ms);
    html! {
        dl.facts {
            dt { "App" } dd { (text::line(ui.app_name(&account.app))) }
            dt { "Id" } dd { code { (account.id) } }
            dt { "Health" }
            dd {
                (uses::state(users, view))
                @if let Some(at) = view.health.checked_at { ", checked " (moment(at.0)) }
                p { (uses::reason(users, view, visitor.now_ms)) }
                @if view.health.reason.is_none() && uses::proof(users, view).is_none() && !can_be_checked(ui, view) {
                    p { "The node has no test for accounts of this app. The first run of a source or workflow that uses it shows whether they are good." }
                }
            }
            @if let Some(at) = account.credentials.expires_at {
                dt { "Expires" }
                dd {
                    (moment(at.0))
                    @if account.credentials.renewable { ". The node renews it before a run needs it." }
                    @else { ". It cannot be renewed; reconnect the account then." }
                }
            }
            dt { "Connected" } dd { (moment(account.created_at.0)) " by " (creators.name(&account.owner.user_id)) }
            @if let Some(at) = account.credentials.renewed_at { dt { "Renewed" } dd { (moment(at.0)) } }
            @if account.credentials.renewed_at != Some(account.updated_at) { dt { @if account.credentials.renewable && account.credentials.renewed_at.is_none() { "Changed or renewed" } @else { "Changed" } } dd { (moment(account.updated_at.0)) } }
        }
    }
}
