//! App props: the accounts that there are, and the way to another one, or to other credentials of the one that is chosen.

use headwater_platform::HealthStatus;
use maud::{Markup, html};
use url::form_urlencoded::Serializer;

use super::frame::Field;
use crate::{
    form::{Part, field as name_of},
    part::{
        health::{health, in_use, not_yet},
        icon::{Icon, icon},
        text, time,
    },
};

/// The accounts of the prop's app.
pub(super) fn account(field: &Field<'_>) -> Markup {
    let prop = field.prop;
    let Some(app) = prop.app() else {
        return field.group(html! { p.wrong { "The component names no app for it." } });
    };
    let name = name_of(Part::Value, &prop.name);
    let of_app = |account: &&super::AccountChoice| account.app == app;
    let accounts: Vec<_> = field.around.accounts.iter().filter(of_app).collect();
    let chosen = field.entered.part(Part::Value, &prop.name);
    let faulty = chosen.filter(|_| field.wrong.is_some());
    let faulty = accounts.iter().find(|account| Some(&*account.id) == faulty);
    field.group(html! {
        @if accounts.is_empty() { p { "There is no account of " (text::line(field.around.app_name(app))) " yet." } }
        @if !prop.is_required() { label.choice { input type="radio" name=(name) value="" checked[chosen.is_none()]; "None" } }
        @for account in &accounts {
            label.choice {
                input type="radio" #{ (field.id) "-" (account.id) } name=(name) value=(account.id) checked[chosen == Some(&*account.id)];
                (text::line(&account.name)) " "
                @match account.used_at_ms {
                    Some(at_ms) => { (in_use()) span.note { ", a run succeeded " (time::ago(at_ms, field.around.now_ms)) } }
                    None => {
                        (health(account.status))
                        @if account.status == HealthStatus::Unknown { span.note { ": " (not_yet(account.can_be_checked)) } }
                    }
                }
            }
        }
        div.loading {
            @if let Some(account) = faulty {
                a.button href=(way(&format!("/accounts/{}/reconnect", account.id), &[], field)) target="_blank" rel="noopener" data-opens {
                    (icon(Icon::External)) span { "Reconnect " (text::line(&account.name)) }
                }
            }
            a.button href=(way("/accounts/new", &[("app", app)], field)) target="_blank" rel="noopener" data-opens data-connects { (icon(Icon::External)) "Connect an account" }
            button name="action" value="show" { "Look for new accounts" }
        }
    })
}

/// The address of a page that leads back to the form in the end.
fn way(path: &str, parameters: &[(&str, &str)], field: &Field<'_>) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(parameters);
    query.append_pair("form", &field.around.form);
    format!("{path}?{}", query.finish())
}
