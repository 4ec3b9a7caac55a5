//! `/accounts/new`: the catalog of apps, and the way to an account of one.

use std::{path::Path, sync::Arc};

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::{
    app::{AppDefinition, AuthType},
    page::{Page as Listed, PageRequest, Position},
};
use headwater_platform::{AccountView, HealthStatus, NewAccount, PlatformError};
use maud::{Markup, html};
use url::form_urlencoded;

use super::{
    fields::{Shown, entered, fields},
    waiting::Waiting,
};
use crate::{
    fields::Fields,
    part::{
        code::{copyable, quoted},
        empty::empty,
        pager::{Ends, pager},
        text,
    },
    problem::Problem,
    query::ROWS,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Shows the catalog, or the form of one app.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    match visitor.parameter("app") {
        Some(app) => {
            let waiting = Waiting::of(&visitor);
            Ok(of_app(&ui, &visitor, &app, &Shown::default(), &waiting))
        }
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
    let waiting = Waiting::sent(&given);
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
            let target = waiting.through(&format!("/accounts/{id}"));
            let said = told("The account is created", checked);
            Ok(see_other_saying(&visitor, &target, &said))
        }
        Err(PlatformError::Invalid(invalid)) => {
            let shown = Shown {
                given: &given,
                wrong: Some(&invalid),
                ..Shown::default()
            };
            let page = of_app(&ui, &visitor, &app, &shown, &waiting);
            Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response())
        }
        Err(error) => Err(Problem::from(error)),
    }
}

/// The line after an account was created or changed: the fact, and whether its credentials were found good.
pub(super) fn told(fact: &str, checked: Result<AccountView, PlatformError>) -> String {
    let found = checked.map(|view| (view.health.status, view.health.checked_at));
    let result = match found {
        Ok((HealthStatus::Healthy, _)) => ", and the app accepts its credentials",
        Ok((HealthStatus::Refused, _)) => {
            ", but the app does not accept its credentials: reconnect it with others"
        }
        Ok((HealthStatus::Expired, _)) => ", but its credentials have expired",
        Ok((HealthStatus::Unknown, None)) => {
            ". Its credentials were not checked, as the node has no test for this app: the first run that uses them shows whether they are good"
        }
        Ok((HealthStatus::Unknown, Some(_))) | Err(_) => {
            ", but it could not be found out whether its credentials are good"
        }
    };
    format!("{fact}{result}")
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
pub(super) fn of_app(
    ui: &Ui,
    visitor: &Visitor,
    slug: &str,
    shown: &Shown<'_>,
    waiting: &Waiting,
) -> Page {
    let app = ui.platform.config().apps.get(slug);
    let body = html! {
        p.crumbs { a href="/accounts" { "Accounts" } " / " a href="/accounts/new" { "Apps" } }
        h1 { "Connect " (text::value(app.map_or(slug, |app| &*app.name))) }
        (shown.summary(app.map(|app| &**app)))
        @match app.map(|app| (app, app.auth)) {
            None => (unknown(slug, shown, waiting)),
            Some((_, AuthType::None)) => { p { "It needs no credentials: components use it without an account." } }
            Some((app, AuthType::Fields)) => (keys(app, shown, waiting)),
            Some((app, AuthType::Oauth2)) if app.client().is_some() => (consent(app, shown, waiting)),
            Some((app, AuthType::Oauth2)) => (unregistered(ui, visitor, app, waiting)),
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

fn consent(app: &AppDefinition, shown: &Shown<'_>, waiting: &Waiting) -> Markup {
    html! {
        p { "The app asks for your consent in another tab. This page then goes on by itself." }
        form method="post" action="/accounts/connect" {
            input type="hidden" name="app" value=(app.slug);
            (waiting.field())
            (name_field(&app.slug, shown.typed("name").unwrap_or_default()))
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

fn keys(app: &AppDefinition, shown: &Shown<'_>, waiting: &Waiting) -> Markup {
    html! {
        form method="post" action="/accounts/new" data-busy="Asking the app…" {
            input type="hidden" name="app" value=(app.slug);
            (waiting.field())
            (name_field(&app.slug, shown.typed("name").unwrap_or_default()))
            (fields(app, shown))
            button.primary { "Create the account" }
        }
        p.note { "The values are stored encrypted, and never shown again." }
        @if app.probe.is_none() { p.note { "The node has no test for this app: the first run that uses the account shows whether the values are good." } }
    }
}

/// An app that the catalog does not have: any fields.
fn unknown(slug: &str, shown: &Shown<'_>, waiting: &Waiting) -> Markup {
    html! {
        p { "The catalog does not have this app, so that it is not known what it asks for. The component's documentation names the fields of " code { "$auth" } "." }
        form method="post" action="/accounts/new" {
            input type="hidden" name="app" value=(slug);
            (waiting.field())
            (name_field(slug, shown.typed("name").unwrap_or_default()))
            div.field {
                label for="lines" { "Fields" }
                textarea #lines name="lines" rows="6" required spellcheck="false" autocomplete="off" placeholder="api_key=…" {}
                p.hint { "One per line: its name, an equals sign, its value; a key or a certificate (PEM) as it is, over several lines. They are stored encrypted, and never shown again." }
            }
            button.primary { "Create the account" }
        }
    }
}

/// An app whose client the administrator has to register; the others are told so.
fn unregistered(ui: &Ui, visitor: &Visitor, app: &AppDefinition, waiting: &Waiting) -> Markup {
    let config = ui.platform.config();
    let callback = format!("{}/connect/{}/callback", config.public_url, app.slug);
    html! {
        @if visitor.caller().identity.user.is_admin {
            p { "It cannot be connected yet: this node has to be registered as a client at the app." }
            ol {
                li { "At the app, register an OAuth 2 client with this callback: " (copyable(&callback)) }
                (client_file(&config.apps_folder, &app.slug))
            }
        } @else {
            p { "It cannot be connected yet: ask the administrator of this node to register it as an OAuth 2 client at the app, with this callback: " (copyable(&callback)) }
        }
        details {
            summary { "Or enter tokens that you have already" }
            (unknown(&app.slug, &Shown::default(), waiting))
        }
    }
}

/// The file that tells the node of its client at an app.
fn client_file(folder: &Path, slug: &str) -> Markup {
    let file = folder.join(format!("{slug}.toml"));
    let variable = slug.to_uppercase().replace('-', "_");
    let toml = format!(
        "[{slug}.oauth2]\nclient_id = \"…\"\nclient_secret_env = \"{variable}_CLIENT_SECRET\"\n"
    );
    html! {
        li {
            "Write its id and its secret to a file such as " code { (text::visible(&file.display().to_string())) } ", and start the node again:"
            pre tabindex="0" { code { (toml) } }
        }
    }
}
