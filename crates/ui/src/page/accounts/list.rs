//! `/accounts`: every account with its health and its uses.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::time::EpochMs;
use headwater_platform::{AccountView, HealthStatus};
use maud::{Markup, html};

use super::{creators::Creators, uses::Uses};
use crate::{
    part::{
        code::copyable,
        empty::empty,
        health::health,
        icon::{Icon, icon},
        pager::{Ends, pager},
        text::{self, counted},
        time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Sources of one account that are named in the list.
const USES: usize = 3;

/// Lists accounts.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let page = visitor.page_request();
    let caller = visitor.caller();
    let mut accounts = ui
        .platform
        .accounts(caller, visitor.workspace.clone(), &page)
        .await?;
    let ends = Ends::of(&accounts, |view| view.account.id.as_str());
    // Apps and accounts that need somebody come first, on this page.
    accounts
        .items
        .sort_by_key(|view| urgency(view.health.status));
    let groups = by_app(&accounts.items);
    let body = html! {
        header.title {
            h1 { "Accounts" }
            div.actions { a.button.primary href=(visitor.to("/accounts/new")) data-key="n" { (icon(Icon::Plus)) "Connect an account" } }
        }
        @if accounts.items.is_empty() {
            (nothing())
        } @else {
            @let uses = Uses::of(&ui, &visitor).await?;
            @let creators = Creators::of(&ui, &visitor, visitor.workspace.as_ref()).await?;
            (table(&visitor, &groups, &uses, &creators))
            (uses.note())
            (pager(&visitor, &ends))
        }
    };
    Ok(Page::of(Section::Accounts, "Accounts", body).command("headwater accounts list"))
}

/// The accounts by app, the apps and the accounts of each in the order that they have.
fn by_app(accounts: &[AccountView]) -> Vec<(&str, Vec<&AccountView>)> {
    let mut groups: Vec<(&str, Vec<&AccountView>)> = Vec::new();
    for view in accounts {
        let app = view.account.app.as_str();
        match groups.iter_mut().find(|(other, _)| *other == app) {
            Some((_, group)) => group.push(view),
            None => groups.push((app, vec![view])),
        }
    }
    groups
}

fn table(
    visitor: &Visitor,
    groups: &[(&str, Vec<&AccountView>)],
    uses: &Uses,
    creators: &Creators,
) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Name" }
                    th scope="col" { "Health" }
                    th scope="col" { "Checked" }
                    th scope="col" { "Expires" }
                    th scope="col" { "Used by" }
                    th scope="col" { "Connected by" }
                }
            }
            @for (app, accounts) in groups {
                tbody {
                    tr.group { th scope="rowgroup" colspan="6" { (text::line(app)) " " span.note { (counted(accounts.len() as u64, "account", "accounts")) } } }
                    @for view in accounts { (row(visitor, view, uses, creators)) }
                }
            }
        }
    }
}

fn row(visitor: &Visitor, view: &AccountView, uses: &Uses, creators: &Creators) -> Markup {
    let account = &view.account;
    let moment = |seconds: u64| time::ago(EpochMs(seconds * 1_000), visitor.now_ms);
    html! {
        tr {
            th scope="row" { a href={ "/accounts/" (account.id) } { (text::line(&account.name)) } }
            td data-label="Health" {
                (health(view.health.status))
                @if let Some(reason) = &view.health.reason { " " (text::line(reason)) }
            }
            td data-label="Checked" {
                @match view.health.checked_at { Some(at) => (moment(at.0)), None => { span.note { "never" } } }
            }
            td data-label="Expires" {
                @match account.credentials.expires_at {
                    Some(at) => { (moment(at.0)) @if account.credentials.renewable { span.note { ", renewed before" } } }
                    None => { span.note { "not known" } }
                }
            }
            td data-label="Used by" { (uses.links(account.id.as_str(), USES)) }
            td data-label="Connected by" { (creators.name(&account.owner.user_id)) }
        }
    }
}

/// The place of an account in the list by its health.
fn urgency(status: HealthStatus) -> u8 {
    match status {
        HealthStatus::Refused => 0,
        HealthStatus::Expired => 1,
        HealthStatus::Unknown | HealthStatus::Healthy => 2,
    }
}

fn nothing() -> Markup {
    empty(
        "There are no accounts here yet.",
        html! {
            p { "An account holds the credentials of an app, encrypted. Components that speak to the app choose one." }
            p { a.button.primary href="/accounts/new" { (icon(Icon::Plus)) "Connect an account" } }
            p { "Or in a terminal: " (copyable("headwater accounts connect APP")) }
        },
    )
}
