//! Consent at the app: OAuth 2's authorization code grant (RFC 6749, 4.1) with a state that counts once and a proof key
//! (RFC 7636).

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use headwater_model::{
    app::{AppDefinition, CLIENT_ID, OAuth2, UID},
    id::ConnectId,
};
use headwater_store::Connect;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::{
    form::{LinkOpened, connected},
    outcome::{ConnectError, Connected, LINK_OVER, OTHER_BROWSER, STATE_OVER},
    sealed::ConnectData,
};
use crate::{
    accounts::{TokenFailure, Verdict, error_text},
    caller::{Remote, key_hash},
    error::PlatformError,
    platform::Platform,
};

/// The parameters that a browser brings back from an app.
#[derive(Debug, Clone, Default)]
pub struct Callback {
    /// The parameters, as the app has given them.
    pub parameters: Vec<(String, String)>,
    /// The browser's cookies by name.
    pub cookies: Vec<(String, String)>,
    /// The place that it came from.
    pub from: Remote,
}

impl Callback {
    fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| &**value)
    }

    fn cookie(&self, wanted: &str) -> Option<&str> {
        let found = self.cookies.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| &**value)
    }
}

/// One per connect, so that several may be under way in a browser.
fn cookie_name(id: &ConnectId) -> String {
    format!("headwater_{id}")
}

impl Platform {
    /// Redirects the user to the app.
    pub(super) async fn redirect(
        &self,
        app: &AppDefinition,
        connect: &Connect,
        fields: Map<String, Value>,
    ) -> Result<LinkOpened, ConnectError> {
        let Some((oauth2, client_id)) = app.client() else {
            return Err(ConnectError::Invalid(LINK_OVER));
        };
        let (state, browser) = (self.core.env.token(), self.core.env.token());
        // 64 characters: RFC 7636 asks for 43 to 128.
        let verifier = format!("{}{}", self.core.env.token(), self.core.env.token());
        let url = match authorization(oauth2, &fields) {
            Ok(url) => url,
            Err(reason) => return Err(self.fail_connect(connect, reason).await),
        };
        let callback = self.callback_url(&app.slug);
        let url = with_request(
            url,
            oauth2,
            &ConsentRequest {
                client_id,
                callback: &callback,
                state: &state,
                verifier: &verifier,
            },
        );
        let data = ConnectData {
            fields,
            verifier: oauth2.pkce.then_some(verifier),
            browser_hash: Some(key_hash(&browser)),
        };
        let sealed = self.seal_data(&connect.id, &data)?;
        let accepted = self
            .core
            .store
            .await_callback(
                &connect.id,
                &key_hash(&state),
                sealed,
                self.core.env.now_at(),
            )
            .await
            .map_err(PlatformError::from)?;
        match accepted {
            true => Ok(LinkOpened::Redirect {
                url,
                cookie: cookie_name(&connect.id),
                browser,
            }),
            false => Err(ConnectError::Invalid(LINK_OVER)),
        }
    }

    /// Handles the app's redirect back to the node.
    ///
    /// # Errors
    /// `Invalid` if no connect awaits this state, `Failed` with the reason why there is no
    /// account.
    pub async fn handle_callback(
        self: &Arc<Self>,
        slug: &str,
        callback: Callback,
    ) -> Result<Connected, ConnectError> {
        let state = callback.parameter("state").unwrap_or_default();
        let connect = self
            .core
            .store
            .take_callback(&key_hash(state), self.core.env.now_at())
            .await
            .map_err(PlatformError::from)?
            .ok_or(ConnectError::Invalid(STATE_OVER))?;
        let (app, slug) = (Arc::clone(self), slug.to_owned());
        // The code counts once, and so do the tokens that it brings: a browser that goes away must not lose them.
        let ended = self
            .core
            .tasks
            .spawn(async move { app.complete(&slug, connect, callback).await });
        ended
            .await
            .map_err(|error| PlatformError::Internal(error.to_string()))?
    }

    async fn complete(
        self: &Arc<Self>,
        slug: &str,
        connect: Connect,
        callback: Callback,
    ) -> Result<Connected, ConnectError> {
        match self.exchange(slug, &connect, &callback).await {
            Err(Refused::Because(reason)) => Err(self.fail_connect(&connect, reason).await),
            Err(Refused::Platform(error)) => {
                tracing::error!(connect_id = %connect.id, %error, "an account was not connected");
                let reason = "An error occurred on the node; its log has the cause. Try again with a new link.";
                Err(self.fail_connect(&connect, reason.to_owned()).await)
            }
            Ok(connected) => Ok(connected),
        }
    }

    async fn exchange(
        self: &Arc<Self>,
        slug: &str,
        connect: &Connect,
        callback: &Callback,
    ) -> Result<Connected, Refused> {
        check_app(slug, connect)?;
        let app = self.core.config.apps.get(slug).cloned();
        let client = app.as_ref().and_then(|app| app.client());
        let (Some(app), Some((oauth2, client_id))) = (&app, client) else {
            return Err(because(LINK_OVER));
        };
        let data = self.open_data(connect)?;
        check_browser(connect, callback, &data)?;
        let code = code(app, callback)?;
        let callback_url = self.callback_url(slug);
        let mut parameters = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &callback_url),
        ];
        if let Some(verifier) = &data.verifier {
            parameters.push(("code_verifier", verifier));
        }
        let granted = self
            .accounts
            .provider
            .grant(oauth2, &oauth2.token_url, &data.fields, &parameters)
            .await;
        let grant = granted.map_err(|failure| no_token(app, &failure))?;
        let mut fields = data.fields;
        fields.insert(CLIENT_ID.to_owned(), Value::from(client_id));
        for (name, parameter) in &oauth2.callback_fields {
            if let Some(value) = callback.parameter(parameter) {
                fields.insert(name.clone(), Value::from(value));
            }
        }
        fields.extend(grant.fields);
        let verdict = match &app.probe {
            Some(probe) => Some(self.accounts.provider.probe(app, probe, &fields).await),
            None => None,
        };
        if let Some(Verdict::Good(Some(uid))) = &verdict {
            fields.entry(UID).or_insert_with(|| uid.clone());
        }
        let verdict = match verdict {
            // The app has just given a token; without a question there is no better news of it.
            None => Verdict::Good(None),
            Some(Verdict::Bad(reason)) => Verdict::Unknown(format!(
                "{} returned a token, but {reason}; its scopes may not suffice",
                app.name
            )),
            Some(verdict) => verdict,
        };
        let account =
            self.connected_account(app, connect, fields, grant.expires_in, Some(verdict))?;
        let connected = connected(app, &account);
        match self.finish_connect(connect, account, &callback.from).await {
            Ok(()) => Ok(connected),
            Err(error) => Err(because(&error.to_string())),
        }
    }
}

enum Refused {
    Because(String),
    Platform(PlatformError),
}

impl From<PlatformError> for Refused {
    fn from(error: PlatformError) -> Self {
        Self::Platform(error)
    }
}

fn because(reason: &str) -> Refused {
    Refused::Because(reason.to_owned())
}

/// The state is the connect's already; so must be the app whose callback it came to.
fn check_app(slug: &str, connect: &Connect) -> Result<(), Refused> {
    match connect.app == slug {
        true => Ok(()),
        false => Err(Refused::Because(format!(
            "This connection is for `{}`, but `{slug}` answered. Start again with a new link.",
            connect.app
        ))),
    }
}

fn check_browser(
    connect: &Connect,
    callback: &Callback,
    data: &ConnectData,
) -> Result<(), Refused> {
    let browser = callback.cookie(&cookie_name(&connect.id)).map(key_hash);
    match browser.is_some() && browser == data.browser_hash {
        true => Ok(()),
        false => Err(because(OTHER_BROWSER)),
    }
}

/// The code that the app sent back, or why it sent none.
fn code<'a>(app: &AppDefinition, callback: &'a Callback) -> Result<&'a str, Refused> {
    let code = callback.parameter("code").filter(|code| !code.is_empty());
    let error = callback.parameter("error");
    match (code, error) {
        (_, Some("access_denied")) => Err(Refused::Because(format!(
            "You declined access at {}, so no account was connected. To try again, request a new link.",
            app.name
        ))),
        (_, Some(error)) => {
            let said = error_text(error, callback.parameter("error_description"), &[]);
            Err(Refused::Because(format!(
                "{} refused: {said}. If this happens again, the operator must check the app's scopes \
                 and the client's settings there.",
                app.name
            )))
        }
        (None, None) => Err(Refused::Because(format!(
            "{} returned no code. Try again with a new link.",
            app.name
        ))),
        (Some(code), None) => Ok(code),
    }
}

fn no_token(app: &AppDefinition, failure: &TokenFailure) -> Refused {
    let name = &app.name;
    Refused::Because(match failure {
        TokenFailure::Ended(reason) => {
            format!("{name} did not accept the code: {reason}. Try again with a new link.")
        }
        TokenFailure::Rejected(reason) => format!(
            "{name} returned no token: {reason}. The operator must compare client_id, client_secret \
             and token_auth in the apps file with the client's settings there."
        ),
        TokenFailure::Unreachable(reason) => {
            format!("{name} returned no token: {reason}. Try again later with a new link.")
        }
    })
}

fn authorization(oauth2: &OAuth2, fields: &Map<String, Value>) -> Result<Url, String> {
    let url = oauth2.authorize_url.expand(fields)?;
    Url::parse(&url).map_err(|error| format!("The app's authorize_url is malformed: {error}"))
}

/// The node's part of the request for consent.
struct ConsentRequest<'a> {
    client_id: &'a str,
    /// The URL that the app sends the browser back to.
    callback: &'a str,
    state: &'a str,
    /// The proof key (PKCE).
    verifier: &'a str,
}

fn with_request(mut url: Url, oauth2: &OAuth2, request: &ConsentRequest<'_>) -> String {
    {
        let mut query = url.query_pairs_mut();
        query.extend_pairs([
            ("response_type", "code"),
            ("client_id", request.client_id),
            ("redirect_uri", request.callback),
            ("state", request.state),
        ]);
        if !oauth2.scopes.is_empty() {
            query.append_pair("scope", &oauth2.scopes.join(&oauth2.scope_separator));
        }
        if oauth2.pkce {
            let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(request.verifier.as_bytes()));
            query.extend_pairs([
                ("code_challenge", &*challenge),
                ("code_challenge_method", "S256"),
            ]);
        }
        query.extend_pairs(&oauth2.authorize_params);
    }
    url.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_authorization_request_keeps_what_the_url_has() {
        let oauth2: OAuth2 = serde_json::from_value(json!({
            "authorize_url": "https://app.example/a?tenant={shop}", "token_url": "https://app.example/t",
            "scopes": ["a", "b c"], "scope_separator": ",", "authorize_params": {"access_type": "offline"},
        }))
        .unwrap();
        let fields = json!({"shop": "s&t"}).as_object().unwrap().clone();
        let url = authorization(&oauth2, &fields).unwrap();
        // The proof key of RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let url = with_request(
            url,
            &oauth2,
            &ConsentRequest {
                client_id: "id",
                callback: "https://n.example/c",
                state: "st",
                verifier,
            },
        );
        assert_eq!(
            url,
            "https://app.example/a?tenant=s%26t&response_type=code&client_id=id\
             &redirect_uri=https%3A%2F%2Fn.example%2Fc&state=st&scope=a%2Cb+c\
             &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256\
             &access_type=offline"
        );
    }
}
