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

use super::{
    connect,
    fields::{Shown, changes, fields, stored},
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

/// The account with the fields of its app, if those can be changed here.
struct Known {
    app: Arc<AppDefinition>,
    stored: AccountFields,
}

async fn known(
    ui: &Ui,
    visitor: &Visitor,
    view: &AccountView,
) -> Result<Option<Known>, PlatformError> {
    let app = ui.platform.config().apps.get(&view.account.app);
    let Some(app) = app.filter(|app| app.auth == AuthType::Fields) else {
        return Ok(None);
    };
    let stored = ui
        .platform
        .account_fields(visitor.caller(), &view.account.id);
    // Without the key that they were encrypted with, all of them are entered again, behind a link.
    let stored = stored.await?;
    Ok(stored.map(|stored| Known {
        app: Arc::clone(app),
        stored,
    }))
}

/// Shows the form, or asks whether to go to the app.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<AccountId>,
) -> PageReply {
    let view = ui.platform.account(visitor.caller(), &id).await?;
    let waiting = Waiting::of(&visitor);
    Ok(match known(&ui, &visitor, &view).await? {
        Some(known) => {
            let given = stored(&known.stored.shown);
            let shown = Shown {
                given: &given,
                kept: &known.stored.secrets,
                wrong: None,
            };
            page(&view, form(&known.app, &view, &shown, &waiting))
        }
        None => page(&view, by_link(&view, &waiting)),
    })
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
    let Some(known) = known(&ui, &visitor, &view).await? else {
        let page = connect::begin_again(&ui, &visitor, &view, &waiting).await?;
        return Ok(page.into_response());
    };
    let update = UpdateAccount {
        name: None,
        fields: Some(changes(&known.app, &given, &known.stored.secrets)),
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
            Ok(refused(&known, &view, &given, &invalid, &waiting))
        }
        Err(error) => Err(error.into()),
    }
}

fn refused(
    known: &Known,
    view: &AccountView,
    given: &[(String, String)],
    wrong: &Invalid,
    waiting: &Waiting,
) -> axum::response::Response {
    let shown = Shown {
        given,
        kept: &known.stored.secrets,
        wrong: Some(wrong),
    };
    page(view, form(&known.app, view, &shown, waiting))
        .with_status(StatusCode::UNPROCESSABLE_ENTITY)
        .into_response()
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
