//! `/accounts/{id}/reconnect`: other credentials for the same account. Fields are changed here, and stored secrets stay
//! unless others are entered; for consent there is a link.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::{
    app::{AppDefinition, AuthType},
    error::Invalid,
    id::AccountId,
};
use headwater_platform::{AccountFields, AccountView, PlatformError, UpdateAccount};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{
    connect,
    fields::{Shown, changes, entered, fields, stored},
    new::told,
    waiting::Waiting,
};
use crate::{
    fields::Fields,
    part::{code::quoted, text},
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The way in which an account gets other credentials.
enum Way {
    /// The fields of its app are changed here.
    Fields {
        app: Arc<AppDefinition>,
        stored: AccountFields,
    },
    /// Any fields are changed here: the node does not know what the app asks for, or has no client there.
    Lines(AccountFields),
    /// A link leads to the app, or to a page that asks for all fields.
    Link,
}

/// Fields that were sent and cannot stand.
#[derive(Clone, Copy)]
struct Refused<'a> {
    given: &'a [(String, String)],
    wrong: &'a Invalid,
}

async fn way(ui: &Ui, visitor: &Visitor, view: &AccountView) -> Result<Way, PlatformError> {
    let app = ui.platform.config().apps.get(&view.account.app);
    if app.is_some_and(|app| app.auth == AuthType::Oauth2 && app.client().is_some()) {
        return Ok(Way::Link);
    }
    let stored = ui
        .platform
        .account_fields(visitor.caller(), &view.account.id);
    let of_fields = app.filter(|app| app.auth == AuthType::Fields);
    Ok(match (stored.await?, of_fields) {
        (Some(stored), Some(app)) => Way::Fields {
            app: Arc::clone(app),
            stored,
        },
        (Some(stored), None) => Way::Lines(stored),
        // Without the key that they were encrypted with, all of them are entered again, behind a link.
        (None, _) => Way::Link,
    })
}

impl Way {
    /// The fields that an update is to write.
    fn changes(&self, given: &[(String, String)]) -> Map<String, Value> {
        match self {
            Self::Fields { app, stored } => changes(app, given, &stored.secrets),
            Self::Lines(_) | Self::Link => entered(given),
        }
    }

    /// The form, or the question whether to go to the app.
    fn asked(&self, view: &AccountView, refused: Option<Refused<'_>>, waiting: &Waiting) -> Markup {
        match self {
            Self::Fields { app, stored: known } => {
                let before = stored(&known.shown);
                let shown = Shown {
                    given: refused.map_or(&before, |refused| refused.given),
                    kept: &known.secrets,
                    wrong: refused.map(|refused| refused.wrong),
                };
                form(app, view, &shown, waiting)
            }
            Self::Lines(stored) => {
                let shown = Shown {
                    wrong: refused.map(|refused| refused.wrong),
                    ..Shown::default()
                };
                lines(view, stored, &shown, waiting)
            }
            Self::Link => by_link(view, waiting),
        }
    }
}

/// Shows the form, or asks whether to go to the app.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<AccountId>,
) -> PageReply {
    let view = ui.platform.account(visitor.caller(), &id).await?;
    let waiting = Waiting::of(&visitor);
    let way = way(&ui, &visitor, &view).await?;
    Ok(page(&view, way.asked(&view, None, &waiting)))
}

/// Changes the fields, or creates the link.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<AccountId>,
    Fields(given): Fields<Vec<(String, String)>>,
) -> FormReply {
    let view = ui.platform.account(visitor.caller(), &id).await?;
    let waiting = Waiting::sent(&given);
    let way = way(&ui, &visitor, &view).await?;
    if matches!(way, Way::Link) {
        let page = connect::begin_again(&ui, &visitor, &view, &waiting).await?;
        return Ok(page.into_response());
    }
    let update = UpdateAccount {
        name: None,
        fields: Some(way.changes(&given)),
    };
    let updated = ui.platform.update_account(visitor.caller(), &id, update);
    match updated.await {
        Ok(_) => {
            let checked = ui.platform.check_account(visitor.caller(), &id).await;
            let target = waiting.through(&format!("/accounts/{id}"));
            let said = told("The account is changed", checked);
            Ok(see_other_saying(&visitor, &target, &said))
        }
        Err(PlatformError::Invalid(invalid)) => {
            let refused = Refused {
                given: &given,
                wrong: &invalid,
            };
            let asked = way.asked(&view, Some(refused), &waiting);
            let page = page(&view, asked).with_status(StatusCode::UNPROCESSABLE_ENTITY);
            Ok(page.into_response())
        }
        Err(error) => Err(error.into()),
    }
}

fn page(view: &AccountView, asked: Markup) -> Page {
    let account = &view.account;
    let base = format!("/accounts/{}", account.id);
    let body = html! {
        p.crumbs { a href="/accounts" { "Accounts" } " / " a href=(base) { (text::line(&account.name)) } }
        h1 { "Reconnect " (text::value(&account.name)) }
        (asked)
    };
    Page::of(
        Section::Accounts,
        format!("Reconnect {}", account.name),
        body,
    )
    .command(format!(
        "headwater accounts reconnect {}",
        quoted(&account.name)
    ))
}

fn form(app: &AppDefinition, view: &AccountView, shown: &Shown<'_>, waiting: &Waiting) -> Markup {
    let base = format!("/accounts/{}", view.account.id);
    html! {
        (shown.summary(Some(app)))
        p { "It stays the same account: whatever uses it goes on with what is entered here." }
        form method="post" action={ (base) "/reconnect" } data-busy="Asking the app…" {
            (waiting.field())
            (fields(app, shown))
            div.actions {
                button.primary { "Save" }
                a.button.quiet href=(waiting.through(&base)) { "Cancel" }
            }
        }
        p.note { "The values are stored encrypted." }
    }
}

/// The form for an account whose app the node does not know.
fn lines(
    view: &AccountView,
    stored: &AccountFields,
    shown: &Shown<'_>,
    waiting: &Waiting,
) -> Markup {
    let base = format!("/accounts/{}", view.account.id);
    let names = stored.shown.keys().chain(&stored.secrets);
    let names: Vec<_> = names.map(String::as_str).collect();
    html! {
        (shown.summary(None))
        p { "It stays the same account: whatever uses it goes on with what is entered here. Fields that are not entered stay as they are." }
        dl.facts { dt { "Stored fields" } dd { (text::line(&names.join(", "))) } }
        form method="post" action={ (base) "/reconnect" } {
            (waiting.field())
            div.field {
                label for="lines" { "Fields to change" }
                textarea #lines name="lines" rows="6" required spellcheck="false" autocomplete="off" placeholder="api_key=…" {}
                p.hint { "One per line: its name, an equals sign, its value; a key or a certificate (PEM) as it is, over several lines." }
            }
            div.actions {
                button.primary { "Save" }
                a.button.quiet href=(waiting.through(&base)) { "Cancel" }
            }
        }
        p.note { "The values are stored encrypted, and never shown again." }
    }
}

fn by_link(view: &AccountView, waiting: &Waiting) -> Markup {
    let base = format!("/accounts/{}", view.account.id);
    html! {
        p { "It stays the same account: whatever uses it goes on with the credentials that it gets." }
        form.actions method="post" action={ (base) "/reconnect" } {
            (waiting.field())
            button.primary { "Create the link" }
            a.button.quiet href=(base) { "Cancel" }
        }
    }
}
