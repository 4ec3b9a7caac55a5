//! `/accounts`: every account with its health and its uses.

use std::sync::Arc;

use axum::extract::{Query, State};
use headwater_model::time::EpochMs;
use headwater_platform::{AccountUsers, AccountView, AccountsFilter, HealthStatus};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    creators::Creators,
    uses::{self, can_be_checked},
};
use crate::{
    part::{
        code::{copyable, quoted},
        empty::empty,
        health::{not_yet, word},
        icon::{Icon, icon},
        pager::{Ends, pager},
        text::{self, counted},
        time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Users of one account that are named in the list.
const USES: usize = 3;
/// The healths by which accounts are filtered, as the API names them.
const HEALTHS: [(&str, HealthStatus); 4] = [
    ("healthy", HealthStatus::Healthy),
    ("unknown", HealthStatus::Unknown),
    ("expired", HealthStatus::Expired),
    ("refused", HealthStatus::Refused),
];

/// The filters of the list; empty ones do not filter.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    app: String,
    #[serde(default)]
    health: String,
}

impl Wanted {
    fn filter(&self) -> AccountsFilter {
        let app = self.app.trim();
        let health = HEALTHS.iter().find(|(value, _)| *value == self.health);
        AccountsFilter {
            app: (!app.is_empty()).then(|| app.to_owned()),
            health: health.map(|(_, status)| *status),
        }
    }
}

/// Lists accounts.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> PageReply {
    let page = visitor.page_request();
    let (caller, workspace) = (visitor.caller(), visitor.workspace.clone());
    let filter = wanted.filter();
    let found = ui
        .platform
        .accounts_by_urgency(caller, workspace.clone(), &filter, &page)
        .await?;
    let ends = Ends::of(&found.page, |placed| &placed.place);
    let accounts = found.page.items.into_iter();
    let accounts: Vec<_> = accounts.map(|placed| placed.item).collect();
    let groups = by_app(&accounts);
    let is_filtered = filter != AccountsFilter::default();
    let body = html! {
        header.title {
            h1 { "Accounts" }
            div.actions { a.button.primary href=(visitor.to("/accounts/new")) data-key="n" { (icon(Icon::Plus)) "Connect an account" } }
        }
        @if is_filtered || !accounts.is_empty() { (form(&wanted, &visitor)) }
        @if accounts.is_empty() {
            (nothing(is_filtered, &visitor))
        } @else {
            @let users = ui.platform.account_users(caller, workspace.clone()).await?;
            @let creators = Creators::of(&ui, &visitor, workspace.as_ref()).await?;
            (table(&ui, &visitor, &groups, &users, &creators))
            (uses::note(&users))
            (pager(&visitor, &ends))
        }
        @if !found.is_whole { p.note { "The first 1,000 accounts were looked at. There may be others that are like this." } }
    };
    Ok(Page::of(Section::Accounts, "Accounts", body).command(command(&filter)))
}

fn command(filter: &AccountsFilter) -> String {
    let app = filter.app.as_ref().map(|app| format!(" {}", quoted(app)));
    let health = filter
        .health
        .map(|health| format!(" --health {}", health.name()));
    format!(
        "headwater accounts list{}{}",
        app.unwrap_or_default(),
        health.unwrap_or_default()
    )
}

fn form(wanted: &Wanted, visitor: &Visitor) -> Markup {
    html! {
        form.filters action="/accounts" {
            div { label for="app" { "App " } input #app type="search" name="app" value=(wanted.app) placeholder="its slug" autocomplete="off" spellcheck="false"; }
            div {
                label for="health" { "Health " }
                select #health name="health" {
                    option value="" { "any" }
                    @for (value, status) in HEALTHS { option value=(value) selected[wanted.health == value] { (word(status)) } }
                }
            }
            @if let Some(id) = &visitor.workspace { input type="hidden" name="workspace" value=(id); }
            button { (icon(Icon::Search)) "Filter" }
        }
    }
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
    ui: &Ui,
    visitor: &Visitor,
    groups: &[(&str, Vec<&AccountView>)],
    users: &AccountUsers,
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
                    th scope="col" { "Renewed" }
                    th scope="col" { "Used by" }
                    th scope="col" { "Connected by" }
                }
            }
            @for (app, accounts) in groups {
                tbody {
                    tr.group { th scope="rowgroup" colspan="7" { (text::line(ui.app_name(app))) " " span.note { (counted(accounts.len() as u64, "account", "accounts")) } } }
                    @for view in accounts { (row(ui, visitor, view, users, creators)) }
                }
            }
        }
    }
}

fn row(
    ui: &Ui,
    visitor: &Visitor,
    view: &AccountView,
    users: &AccountUsers,
    creators: &Creators,
) -> Markup {
    let account = &view.account;
    let moment = |seconds: u64| time::ago(EpochMs(seconds * 1_000), visitor.now_ms);
    html! {
        tr {
            th scope="row" { a href={ "/accounts/" (account.id) } { (text::line(&account.name)) } }
            td data-label="Health" { (uses::state(users, view)) " " (uses::reason(users, view, visitor.now_ms)) }
            td data-label="Checked" {
                @match view.health.checked_at { Some(at) => (moment(at.0)), None => { span.note { (not_yet(can_be_checked(ui, view))) } } }
            }
            td data-label="Expires" {
                @match account.credentials.expires_at {
                    Some(at) => { (moment(at.0)) @if account.credentials.renewable { span.note { ", renewed before" } } }
                    None => { span.note { "not known" } }
                }
            }
            td data-label="Renewed" {
                @match account.credentials.renewed_at {
                    Some(at) => (moment(at.0)),
                    None if account.credentials.renewable => { span.note { "not known" } }
                    None => { span.note { "–" } }
                }
            }
            td data-label="Used by" { (uses::links(users, &account.id, USES)) }
            td data-label="Connected by" { (creators.name(&account.owner.user_id)) }
        }
    }
}

fn nothing(is_filtered: bool, visitor: &Visitor) -> Markup {
    if is_filtered {
        return empty(
            "No account is like this.",
            html! { p { a href=(visitor.with(&[("app", None), ("health", None)])) { "Show all accounts" } } },
        );
    }
    empty(
        "There are no accounts here yet.",
        html! {
            p { "An account holds the credentials of an app, encrypted. Components that speak to the app choose one." }
            form.filters role="search" action="/accounts/new" {
                @if let Some(id) = &visitor.workspace { input type="hidden" name="workspace" value=(id); }
                label { span.unseen { "App" } input type="search" name="q" placeholder="Search apps" autocomplete="off"; }
                button { (icon(Icon::Search)) "Search" }
            }
            p { a href=(visitor.to("/accounts/new")) { "Show all apps" } }
            p { "Or in a terminal: " (copyable("headwater accounts connect APP")) }
        },
    )
}
