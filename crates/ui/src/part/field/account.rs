//! App props: the accounts that there are, and the way to another one.

use maud::{Markup, html};
use url::form_urlencoded;

use super::frame::Field;
use crate::{
    form::{Part, field as name_of},
    part::{
        health::health,
        icon::{Icon, icon},
        text,
    },
};

/// The accounts of the prop's app.
pub(super) fn account(field: &Field<'_>) -> Markup {
    let prop = field.prop;
    let Some(app) = prop.app() else {
        return field.group(html! { p.wrong { "The component names no app for it." } });
    };
    let name = name_of(Part::Value, &prop.name);
    let mut accounts = field
        .around
        .accounts
        .iter()
        .filter(|account| account.app == app)
        .peekable();
    let has_any = accounts.peek().is_some();
    // The only one there is, is meant.
    let only = match field
        .around
        .accounts
        .iter()
        .filter(|account| account.app == app)
        .count()
    {
        1 if prop.is_required() => field
            .around
            .accounts
            .iter()
            .find(|account| account.app == app),
        _ => None,
    };
    let chosen = field
        .entered
        .part(Part::Value, &prop.name)
        .or(only.map(|only| &*only.id));
    let query: String = form_urlencoded::byte_serialize(app.as_bytes()).collect();
    field.group(html! {
        @if !has_any { p { "There is no account of " (text::line(app)) " yet." } }
        @if !prop.is_required() { label.choice { input type="radio" name=(name) value="" checked[chosen.is_none()]; "None" } }
        @for account in accounts {
            label.choice {
                input type="radio" name=(name) value=(account.id) checked[chosen == Some(&*account.id)];
                (text::line(&account.name)) " " (health(account.status))
            }
        }
        div.loading {
            a.button href={ "/accounts/new?app=" (query) } target="_blank" rel="noopener" data-connects { (icon(Icon::External)) "Connect an account" }
            button name="action" value="accounts" { "Look for new accounts" }
        }
    })
}
