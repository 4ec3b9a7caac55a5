//! A link that is opened: the fields to enter, and the checks of the entered values.

use std::{sync::Arc, time::Duration};

use headwater_model::{
    app::{AppDefinition, AuthType, UID},
    error::Invalid,
    id::AccountId,
};
use headwater_store::{Account, Connect, ConnectStep, Health, HealthStatus};
use serde_json::{Map, Value};

use super::{
    outcome::{ConnectError, Connected, LINK_OVER},
    urls::check_urls,
};
use crate::{
    accounts::{Verdict, health_of},
    caller::{Remote, key_hash},
    error::PlatformError,
    platform::Platform,
};

/// The answer to a browser that opens a link.
#[derive(Debug)]
pub enum LinkOpened {
    /// Something has to be entered, or only to be confirmed.
    Form(FieldsForm),
    /// The browser is redirected to the app, with a cookie that identifies it at the callback.
    Redirect {
        /// The target.
        url: String,
        /// The cookie's name.
        cookie: String,
        /// Its value.
        browser: String,
    },
    /// There is an account.
    Connected(Connected),
}

/// The fields to enter.
#[derive(Debug)]
pub struct FieldsForm {
    /// The app.
    pub app: Arc<AppDefinition>,
    /// The account's name.
    pub account: String,
    /// The known values, without secrets.
    pub known: Map<String, Value>,
    /// Secrets that are known already, by name. They need not be entered.
    pub kept: Vec<String>,
    /// The fault of the values entered last.
    pub problem: Option<String>,
}

impl Platform {
    /// Opens a link, for the app in its path. That does not use the link up: programs that show previews of
    /// links open them too. Only the form's button continues, even where nothing has to be entered.
    ///
    /// # Errors
    /// `Invalid` when the link is not valid.
    pub async fn open_link(&self, slug: &str, token: &str) -> Result<LinkOpened, ConnectError> {
        let (connect, app) = self.linked(slug, token).await?;
        let data = self.open_data(&connect)?;
        self.form(&app, &connect, data.fields, None)
    }

    /// Handles the submitted form of a link.
    ///
    /// # Errors
    /// As [`Platform::open_link`]. Fields that can be corrected are asked for again.
    pub async fn submit_form(
        self: &Arc<Self>,
        slug: &str,
        token: &str,
        entered: Map<String, Value>,
        from: &Remote,
    ) -> Result<LinkOpened, ConnectError> {
        let (connect, app) = self.linked(slug, token).await?;
        let data = self.open_data(&connect)?;
        let entered = merged(&app, data.fields, entered);
        let checked = app.check_entered(&entered, false);
        if let Err(invalid) = checked.and_then(|()| check_urls(&app, &entered)) {
            let problem = problem(&app, &invalid);
            return self.form(&app, &connect, entered, Some(problem));
        }
        match app.auth {
            AuthType::Oauth2 => self.redirect(&app, &connect, entered).await,
            AuthType::Fields | AuthType::None => {
                self.keep_entered(&app, &connect, entered, from).await
            }
        }
    }

    /// The connect that the link belongs to, if the link is still valid.
    async fn linked(
        &self,
        slug: &str,
        token: &str,
    ) -> Result<(Connect, Arc<AppDefinition>), ConnectError> {
        let found = self
            .core
            .store
            .connect_by_token(&key_hash(token))
            .await
            .map_err(PlatformError::from)?;
        let usable = |connect: &Connect| {
            connect.step == ConnectStep::Linked
                && connect.expires_at > self.core.env.now_at()
                && connect.app == slug
        };
        let connect = found.filter(usable);
        let connect = connect.ok_or(ConnectError::Invalid(LINK_OVER))?;
        match self.core.config.apps.get(slug) {
            Some(app) => Ok((connect, Arc::clone(app))),
            // The operator has removed the app from the catalog since.
            None => Err(ConnectError::Invalid(LINK_OVER)),
        }
    }

    async fn keep_entered(
        self: &Arc<Self>,
        app: &Arc<AppDefinition>,
        connect: &Connect,
        mut fields: Map<String, Value>,
        from: &Remote,
    ) -> Result<LinkOpened, ConnectError> {
        let verdict = match &app.probe {
            Some(probe) => Some(self.accounts.provider.probe(app, probe, &fields).await),
            None => None,
        };
        if let Some(Verdict::Bad(reason)) = &verdict {
            let problem = format!("{} did not accept this: {reason}", app.name);
            return self.form(app, connect, fields, Some(problem));
        }
        if let Some(Verdict::Good(Some(uid))) = &verdict {
            fields.entry(UID).or_insert_with(|| uid.clone());
        }
        let account = self.connected_account(app, connect, fields, None, verdict)?;
        let connected = connected(app, &account);
        self.finish_connect(connect, account, from).await?;
        Ok(LinkOpened::Connected(connected))
    }

    fn form(
        &self,
        app: &Arc<AppDefinition>,
        connect: &Connect,
        mut known: Map<String, Value>,
        problem: Option<String>,
    ) -> Result<LinkOpened, ConnectError> {
        let is_secret = |name: &str| app.fields.iter().any(|f| f.name == name && f.secret);
        let mut kept = self.open_data(connect)?.fields;
        kept.retain(|name, _| is_secret(name));
        known.retain(|name, _| !is_secret(name));
        Ok(LinkOpened::Form(FieldsForm {
            app: Arc::clone(app),
            account: connect.name.clone(),
            known,
            kept: kept.into_iter().map(|(name, _)| name).collect(),
            problem,
        }))
    }

    /// The account that a connect creates or renews.
    pub(super) fn connected_account(
        &self,
        app: &AppDefinition,
        connect: &Connect,
        fields: Map<String, Value>,
        expires_in: Option<Duration>,
        verdict: Option<Verdict>,
    ) -> Result<Account, PlatformError> {
        let existing = connect.account_id.clone();
        let id = existing.unwrap_or_else(|| self.core.env.id(AccountId::new));
        let now_at = self.core.env.now_at();
        let mut account = Account {
            credentials: self
                .accounts
                .credentials(&id, &app.slug, &fields, expires_in)?,
            id,
            owner: connect.owner.clone(),
            app: app.slug.clone(),
            name: connect.name.clone(),
            version: 1,
            health: Health::default(),
            created_at: now_at,
            updated_at: now_at,
        };
        let checked_at = verdict.is_some().then_some(now_at);
        let (status, reason) = health_of(&account, verdict);
        account.health = Health {
            status,
            reason,
            checked_at,
        };
        Ok(account)
    }
}

/// The contents of the page about the connected account.
pub(super) fn connected(app: &AppDefinition, account: &Account) -> Connected {
    let is_unverified = app.probe.is_some() && account.health.status != HealthStatus::Healthy;
    Connected {
        app: app.name.clone(),
        account: account.name.clone(),
        warning: account.health.reason.clone().filter(|_| is_unverified),
    }
}

/// The entered values over the known ones. A known secret need not be entered; any other field left
/// empty is empty.
fn merged(
    app: &AppDefinition,
    mut known: Map<String, Value>,
    mut entered: Map<String, Value>,
) -> Map<String, Value> {
    entered.retain(|_, value| value.as_str() != Some(""));
    for field in app.fields.iter().filter(|field| field.multiline) {
        // Browsers end lines as HTTP does.
        if let Some(Value::String(text)) = entered.get_mut(&field.name) {
            *text = text.replace("\r\n", "\n");
        }
    }
    known.retain(|name, _| app.fields.iter().any(|f| f.name == *name && f.secret));
    known.extend(entered);
    known
}

/// The problem with the field's label from the form.
fn problem(app: &AppDefinition, invalid: &Invalid) -> String {
    let name = invalid.field.trim_start_matches("fields.");
    let field = app.fields.iter().find(|field| field.name == name);
    let label = field.map_or(name, |field| &field.label);
    format!("{label}: {}", invalid.reason)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_known_secret_stays_unless_another_is_entered_and_lines_end_as_they_did() {
        let app = json!({"name": "Acme", "auth": "fields", "fields": [
            {"name": "host"}, {"name": "key", "secret": true}, {"name": "pem", "secret": true, "multiline": true},
        ]});
        let app: AppDefinition = serde_json::from_value(app).unwrap();
        let fields = |value: Value| value.as_object().unwrap().clone();
        let known = json!({"host": "old", "key": "k1", "pem": "p1"});
        for (entered, expected) in [
            (
                json!({"host": "new", "key": "", "pem": ""}),
                json!({"key": "k1", "pem": "p1", "host": "new"}),
            ),
            (
                json!({"host": "", "key": "k2"}),
                json!({"key": "k2", "pem": "p1"}),
            ),
            (
                json!({"pem": "a\r\nb\r\n"}),
                json!({"key": "k1", "pem": "a\nb\n"}),
            ),
        ] {
            assert_eq!(
                merged(&app, fields(known.clone()), fields(entered)),
                fields(expected)
            );
        }
    }
}
