//! Connecting at the app itself: a link that is good once, and the page that waits for the end of it.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::IntoResponse as _,
};
use headwater_model::id::ConnectId;
use headwater_platform::{AccountView, ConnectLink, ConnectStatus, NewConnect, PlatformError};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Map;

use super::{fields::Shown, new::of_app, waiting::Waiting};
use crate::{
    fields::Fields,
    part::{
        code::{copyable, quoted},
        icon::{Icon, icon},
        text,
    },
    problem::Problem,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The longest time that the page's script waits in one request.
const PATIENCE_MAX: Duration = Duration::from_secs(25);

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Connect {
    app: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    form: String,
}

/// Creates a link for a new account. A form that does not fit is shown again.
pub(crate) async fn begin(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Connect>,
) -> PageReply {
    let name = given.name.trim();
    let new = NewConnect {
        app: given.app.clone(),
        name: (!name.is_empty()).then(|| name.to_owned()),
        fields: Map::new(),
        workspace_id: visitor.workspace.clone(),
    };
    let waiting = Waiting::named(Some(&given.form));
    let link = match ui.platform.begin_connect(visitor.caller(), new).await {
        Ok(link) => link,
        Err(PlatformError::Invalid(invalid)) => {
            let shown = Shown {
                given: &[("name".to_owned(), given.name.clone())],
                wrong: Some(&invalid),
                ..Shown::default()
            };
            let page = of_app(&ui, &visitor, &given.app, &shown, &waiting);
            return Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY));
        }
        Err(error) => return Err(error.into()),
    };
    let app = ui.app_name(&given.app);
    Ok(linked(app, &link, &waiting)
        .command(format!("headwater accounts connect {}", quoted(&given.app))))
}

/// Creates a link for other credentials of an account.
pub(super) async fn begin_again(
    ui: &Ui,
    visitor: &Visitor,
    view: &AccountView,
    waiting: &Waiting,
) -> PageReply {
    let account = &view.account;
    let link = ui
        .platform
        .begin_reconnect(visitor.caller(), &account.id)
        .await?;
    let name = quoted(&account.name);
    Ok(linked(ui.app_name(&account.app), &link, waiting)
        .command(format!("headwater accounts reconnect {name}")))
}

fn linked(app: &str, link: &ConnectLink, waiting: &Waiting) -> Page {
    let body = html! {
        p.crumbs { a href="/accounts" { "Accounts" } }
        h1 { "Connect " (text::value(app)) }
        p { "The next page leads through the app's consent, or asks for its keys. The link is good once, for ten minutes." }
        p { a.button.primary href=(link.url) target="_blank" rel="noopener" { (icon(Icon::External)) span { "Continue to " (text::line(app)) } } }
        p.note { "For another browser: " (copyable(&link.url)) }
        (wait(&link.id, waiting))
    };
    Page::of(Section::Accounts, format!("Connect {app}"), body)
}

fn wait(id: &ConnectId, waiting: &Waiting) -> Markup {
    let address = waiting.through(&format!("/accounts/connects/{id}"));
    html! {
        p role="status" data-wait=(address) {
            "When you are back: "
            a href=(address) { "see whether it is connected" }
        }
    }
}

/// Tells how far a connect is. With an account in the end, goes there.
pub(crate) async fn status(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> FormReply {
    let id: ConnectId = id.parse().map_err(|_| Problem::not_found("connect", &id))?;
    let seconds = visitor.parameter("wait").and_then(|text| text.parse().ok());
    let patience = Duration::from_secs(seconds.unwrap_or(0)).min(PATIENCE_MAX);
    let view = ui
        .platform
        .connect_status(visitor.caller(), &id, patience)
        .await?;
    let waiting = Waiting::of(&visitor);
    let body = match view.status {
        ConnectStatus::Connected(account) => {
            let target = waiting.through(&format!("/accounts/{account}"));
            return Ok(see_other_saying(
                &visitor,
                &target,
                "The account is connected",
            ));
        }
        ConnectStatus::Pending => html! {
            h1 { "Not connected yet" }
            p { "Nobody has come to the end of the link so far. Go on in the tab that it opened." }
            (wait(&id, &waiting))
        },
        ConnectStatus::Failed(reason) => html! {
            h1 { "Not connected" }
            p { (text::sentence(&reason)) }
            (again(&view.app, &waiting))
        },
        ConnectStatus::Expired => html! {
            h1 { "The link is over" }
            p { "Nobody came to its end within ten minutes." }
            (again(&view.app, &waiting))
        },
    };
    let body = html! { p.crumbs { a href="/accounts" { "Accounts" } } (body) };
    Ok(Page::of(Section::Accounts, "Connecting", body).into_response())
}

fn again(app: &str, waiting: &Waiting) -> Markup {
    html! {
        form.actions method="post" action="/accounts/connect" {
            input type="hidden" name="app" value=(app);
            (waiting.field())
            button.primary { "Try again" }
            a.button.quiet href="/accounts" { "Accounts" }
        }
    }
}
