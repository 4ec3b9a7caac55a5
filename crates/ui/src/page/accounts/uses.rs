//! The sources and workflows that use accounts, and the run that shows that an account is good.

use headwater_model::{id::AccountId, time::EpochMs};
use headwater_platform::{AccountUser, AccountUsers, AccountView, HealthStatus, SourceView};
use maud::{Markup, html};

use crate::{
    address::Address as _,
    part::{
        health::{health, in_use},
        text::{self, counted},
        time,
    },
    problem::capital,
    state::Ui,
};

/// Those that use an account as links, at most so many.
pub(super) fn links(users: &AccountUsers, id: &AccountId, at_most: usize) -> Markup {
    let users_of = users.of(id);
    html! {
        @if users_of.is_empty() { span.note { @if users.is_whole { "nothing" } @else { "none that was read" } } }
        @for (at, user) in users_of.iter().take(at_most).enumerate() {
            @if at > 0 { ", " }
            (link(user))
        }
        @if users_of.len() > at_most { " and " (counted((users_of.len() - at_most) as u64, "other", "others")) }
    }
}

fn link(user: &AccountUser) -> Markup {
    html! { a href=(user.runnable.address()) title=(user.props.join(", ")) { (text::line(&user.name)) } }
}

/// The limit of the search, where it was met.
pub(super) fn note(users: &AccountUsers) -> Markup {
    html! {
        @if !users.is_whole {
            p.note { "Uses were looked for among the first 1,000 sources and 1,000 workflows. There may be others." }
        }
    }
}

/// The state of an account. Where the node has not checked it, a run that succeeded with it says more.
pub(super) fn state(users: &AccountUsers, view: &AccountView) -> Markup {
    match proof(users, view) {
        Some(_) => in_use(),
        None => health(view.health.status),
    }
}

/// The reason of that state.
pub(super) fn reason(users: &AccountUsers, view: &AccountView, now_ms: EpochMs) -> Markup {
    html! {
        @match proof(users, view) {
            Some((user, at_ms)) => { span.note { "used by a run of " (link(user)) " that succeeded " (time::ago(at_ms, now_ms)) } }
            None => { @if let Some(reason) = &view.health.reason { (text::sentence(&capital(reason))) } }
        }
    }
}

/// The run that shows more about an account than its checks.
pub(crate) fn proof<'a>(
    users: &'a AccountUsers,
    view: &AccountView,
) -> Option<(&'a AccountUser, EpochMs)> {
    let is_unknown = view.health.status == HealthStatus::Unknown;
    users.proof(view).filter(|_| is_unknown)
}

/// Whether there is a way to ask the app about the credentials.
pub(crate) fn can_be_checked(ui: &Ui, view: &AccountView) -> bool {
    let account = &view.account;
    let app = ui.platform.config().apps.get(&account.app);
    app.is_some_and(|app| app.probe.is_some() || account.credentials.renewable)
}

/// The ids of the accounts that a source uses.
pub(crate) fn accounts_of(view: &SourceView) -> impl Iterator<Item = &str> {
    let values = view.configured_props.values();
    values.filter_map(|value| value.get("authProvisionId")?.as_str())
}
