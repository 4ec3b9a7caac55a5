//! `/accounts/new`: the catalog of apps, and the way to an account of one.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::{
    app::{AppDefinition, AppField, AuthType},
    page::{Page as Listed, PageRequest, Position},
};
use headwater_platform::{HealthStatus, NewAccount, PlatformError};
use maud::{Markup, html};
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::{
    fields::Fields,
    part::{
        code::{copyable, quoted},
        empty::empty,
        icon::{Icon, icon},
        markdown::markdown,
        pager::{Ends, pager},
        text,
    },
    problem::{Problem, capital},
    query::ROWS,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Fields of an account are named like this in the form.
const FIELD: &str = "field.";

/// Shows the catalog, or the form of one app.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    match visitor.parameter("app") {
        Some(app) => Ok(of_app(&ui, &app, &[], None)),
        None => Ok(catalog(&ui, &visitor)),
    }
}

/// Creates an account from the fields that were entered, and asks the app whether they are good.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Vec<(String, String)>>,
) -> FormReply {
    let text = |name: &str| {
        let found = given.iter().find(|(key, _)| key == name);
        found
            .map(|(_, text)| text.trim())
            .filter(|text| !text.is_empty())
    };
    let app = text("app").unwrap_or_default().to_owned();
    let new = NewAccount {
        app: app.clone(),
        name: text("name").map(str::to_owned),
        fields: entered(&given),
        workspace_id: visitor.workspace.clone(),
    };
    match ui.platform.create_account(visitor.caller(), new).await {
        Ok(view) => {
            let id = view.account.id;
            let checked = ui.platform.check_account(visitor.caller(), &id).await;
            let said = match checked {
                Ok(view) if view.health.status == HealthStatus::Refused => {
                    "The account is created, but the app does not accept its credentials"
                }
                Ok(_) => {
                    "The account is created. A form that waits for it finds it under “Look for new accounts”"
                }
                Err(_) => {
                    "The account is created; whether its credentials are good could not be asked"
                }
            };
            Ok(see_other_saying(&visitor, &format!("/accounts/{id}"), said))
        }
        Err(PlatformError::Invalid(invalid)) => {
            let field = invalid
                .field
                .strip_prefix("fields.")
                .unwrap_or(&invalid.field);
            let wrong = format!("{field}: {}", invalid.reason);
            let page = of_app(&ui, &app, &given, Some(&wrong));
            Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response())
        }
        Err(error) => Err(Problem::from(error)),
    }
}

/// The fields of the account: one of the form for each, or lines of names and values.
fn entered(given: &[(String, String)]) -> Map<String, Value> {
    let named = given
        .iter()
        .filter_map(|(name, text)| Some((name.strip_prefix(FIELD)?, text)));
    let mut fields: Map<String, Value> = named
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| (name.to_owned(), Value::from(text.replace("\r\n", "\n"))))
        .collect();
    let lines = given.iter().filter(|(name, _)| name == "lines");
    for (name, value) in lines.flat_map(|(_, text)| in_lines(text)) {
        fields.insert(name, Value::from(value));
    }
    fields
}

/// Names and values, one pair per line; a key or a certificate (PEM) goes on until its last line.
fn in_lines(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match (pairs.last_mut(), line.split_once('=')) {
            (Some((_, value)), _) if is_open(value) => *value = format!("{value}\n{}", line.trim()),
            (_, Some((name, value))) => {
                pairs.push((name.trim().to_owned(), value.trim().to_owned()))
            }
            (_, None) => {}
        }
    }
    pairs
}

/// Whether a value is a key or a certificate without its last line.
fn is_open(value: &str) -> bool {
    value.starts_with("-----BEGIN ") && !value.contains("-----END ")
}

fn catalog(ui: &Ui, visitor: &Visitor) -> Page {
    let query = visitor.parameter("q").unwrap_or_default();
    let position = match (visitor.parameter("after"), visitor.parameter("before")) {
        (Some(after), _) => Position::After(after),
        (None, Some(before)) => Position::Before(before),
        (None, None) => Position::First,
    };
    let apps: Listed<Arc<AppDefinition>> = ui.platform.config().apps.search(
        &query,
        &PageRequest {
            limit: ROWS,
            position,
        },
    );
    let ends = Ends::of(&apps, |app| app.slug.clone());
    let body = html! {
        p.crumbs { a href="/accounts" { "Accounts" } }
        h1 { "Connect an account" }
        form.filters role="search" action="/accounts/new" {
            label { span.unseen { "App" } input type="search" name="q" value=(query) placeholder="Search apps" autocomplete="off"; }
            button { "Search" }
        }
        @if apps.items.is_empty() {
            (empty("No app of the catalog has that name.", html! {
                p { "An account of any app can be created from its fields; the operator can add apps to the catalog." }
                @if !query.trim().is_empty() { p { a.button href=(address(query.trim())) { "Enter the fields of " (text::line(query.trim())) } } }
            }))
        } @else {
            ul.cards { @for app in &apps.items { (card(app)) } }
            (pager(visitor, &ends))
        }
    };
    Page::of(Section::Accounts, "Connect an account", body).command("headwater apps")
}

fn card(app: &AppDefinition) -> Markup {
    let needs = match app.auth {
        AuthType::Oauth2 if app.client().is_none() => "needs a client that the operator registers",
        AuthType::Oauth2 => "asks for your consent",
        AuthType::Fields => "asks for keys",
        AuthType::None => "needs no account",
    };
    html! {
        li.card {
            h2 { a href=(address(&app.slug)) { (text::line(&app.name)) } }
            p.note { code { (text::line(&app.slug)) } " " (needs) }
        }
    }
}

fn address(slug: &str) -> String {
    let app: String = form_urlencoded::byte_serialize(slug.as_bytes()).collect();
    format!("/accounts/new?app={app}")
}

/// The page of one app. Values of secrets are asked for again.
fn of_app(ui: &Ui, slug: &str, given: &[(String, String)], wrong: Option<&str>) -> Page {
    let app = ui.platform.config().apps.get(slug);
    let body = html! {
        p.crumbs { a href="/accounts" { "Accounts" } " / " a href="/accounts/new" { "Apps" } }
        h1 { "Connect " (text::value(app.map_or(slug, |app| &*app.name))) }
        @if let Some(wrong) = wrong {
            section.summary-of-errors role="alert" { p { (icon(Icon::Warning)) (text::value(&capital(wrong))) } }
        }
        @match app.map(|app| (app, app.auth)) {
            None => (unknown(slug, given)),
            Some((_, AuthType::None)) => { p { "It needs no credentials: components use it without an account." } }
            Some((app, AuthType::Fields)) => (keys(app, given)),
            Some((app, AuthType::Oauth2)) if app.client().is_some() => (consent(app)),
            Some((app, AuthType::Oauth2)) => (unregistered(ui, app)),
        }
    };
    let command = match app.map(|app| app.auth) {
        Some(AuthType::Oauth2) => format!("headwater accounts connect {}", quoted(slug)),
        Some(AuthType::Fields | AuthType::None) | None => {
            format!("headwater accounts add {} --field KEY", quoted(slug))
        }
    };
    Page::of(Section::Accounts, format!("Connect {slug}"), body).command(command)
}

fn consent(app: &AppDefinition) -> Markup {
    html! {
        p { "The app asks for your consent in another tab. This page then goes on by itself." }
        form method="post" action="/accounts/connect" {
            input type="hidden" name="app" value=(app.slug);
            (name_field(&app.slug, ""))
            button.primary { "Connect" }
        }
    }
}

fn name_field(slug: &str, typed: &str) -> Markup {
    html! {
        div.field {
            label for="name" { "Name " span.note { "optional" } }
            input #name name="name" value=(typed) placeholder=(slug) autocomplete="off";
            p.hint { "For people who choose among several accounts." }
        }
    }
}

fn typed<'a>(given: &'a [(String, String)], name: &str) -> &'a str {
    let found = given.iter().find(|(key, _)| key == name);
    found.map(|(_, text)| text.as_str()).unwrap_or_default()
}

fn keys(app: &AppDefinition, given: &[(String, String)]) -> Markup {
    html! {
        form method="post" action="/accounts/new" {
            input type="hidden" name="app" value=(app.slug);
            (name_field(&app.slug, typed(given, "name")))
            @for field in &app.fields { (key(field, given)) }
            button.primary { "Create the account" }
        }
        p.note { "The values are stored encrypted, and never shown again." }
    }
}

fn key(field: &AppField, given: &[(String, String)]) -> Markup {
    let name = format!("{FIELD}{}", field.name);
    let id = format!("field-{}", field.name);
    let hint = format!("{id}-hint");
    let has_hint = !field.hint.is_empty();
    let shown = if field.secret {
        ""
    } else {
        typed(given, &name)
    };
    html! {
        div.field {
            label for=(id) { (text::line(&field.label)) @if field.optional { " " span.note { "optional" } } }
            @if !field.options.is_empty() {
                select #(id) name=(name) required[!field.optional] aria-describedby=[has_hint.then_some(&hint)] {
                    option value="" { "—" }
                    @for option in &field.options { option value=(option.value) selected[option.value == shown] { (option.label) } }
                }
            } @else if field.multiline {
                textarea #(id) name=(name) rows="6" required[!field.optional] spellcheck="false" autocomplete="off" aria-describedby=[has_hint.then_some(&hint)] { "\n" (shown) }
            } @else if field.secret {
                input #(id) type="password" name=(name) required[!field.optional] autocomplete="new-password" spellcheck="false" aria-describedby=[has_hint.then_some(&hint)];
            } @else {
                input #(id) name=(name) value=(shown) required[!field.optional] autocomplete="off" spellcheck="false" aria-describedby=[has_hint.then_some(&hint)];
            }
            @if has_hint { div.hint #(hint) { (markdown(&field.hint)) } }
        }
    }
}

/// An app that the catalog does not have: any fields.
fn unknown(slug: &str, given: &[(String, String)]) -> Markup {
    html! {
        p { "The catalog does not have this app, so that it is not known what it asks for. The component's documentation names the fields of " code { "$auth" } "." }
        form method="post" action="/accounts/new" {
            input type="hidden" name="app" value=(slug);
            (name_field(slug, typed(given, "name")))
            div.field {
                label for="lines" { "Fields" }
                textarea #lines name="lines" rows="6" required spellcheck="false" autocomplete="off" placeholder="api_key=…" {}
                p.hint { "One per line: its name, an equals sign, its value; a key or a certificate (PEM) as it is, over several lines. They are stored encrypted, and never shown again." }
            }
            button.primary { "Create the account" }
        }
    }
}

/// An app whose client the operator has to register.
fn unregistered(ui: &Ui, app: &AppDefinition) -> Markup {
    let callback = format!(
        "{}/connect/{}/callback",
        ui.platform.config().public_url,
        app.slug
    );
    let variable = app.slug.to_uppercase().replace('-', "_");
    let toml = format!(
        "[{}.oauth2]\nclient_id = \"…\"\nclient_secret_env = \"{variable}_CLIENT_SECRET\"\n",
        app.slug
    );
    html! {
        p { "It cannot be connected yet: the operator of this node has to register it as a client at the app." }
        ol {
            li { "At the app, register an OAuth 2 client with this callback: " (copyable(&callback)) }
            li {
                "Write its id and its secret to a file such as " code { "DATA_DIR/apps/" (app.slug) ".toml" } ", and start the node again:"
                pre tabindex="0" { code { (toml) } }
            }
        }
        details {
            summary { "Or enter tokens that you have already" }
            (unknown(&app.slug, &[]))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_come_one_by_one_or_in_lines() {
        let given = [
            ("app", "x"),
            ("field.key", "a\r\nb"),
            ("field.empty", ""),
            (
                "lines",
                "token = t=1\r\nnothing\r\nuser=me\r\npem=-----BEGIN KEY-----\r\nAB==\r\n-----END KEY-----\r\nlast=1",
            ),
        ];
        let given = given.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let expected = json!({"key": "a\nb", "token": "t=1", "user": "me",
            "pem": "-----BEGIN KEY-----\nAB==\n-----END KEY-----", "last": "1"});
        assert_eq!(Value::Object(entered(&given)), expected);
    }
}
