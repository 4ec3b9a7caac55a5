//! Speaking to apps: tokens given, renewed and taken back, and whether credentials are good.
//!
//! Responsible for the addresses that may be reached, time limits, the bound of an answer, and for
//! keeping secrets out of the text of a failure. Not for the meaning of a token's end to an account.

mod answer;

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use headwater_engine::network::{NetworkPolicy, check_host, client_builder};
use headwater_model::app::{
    ACCESS_TOKEN, AppDefinition, AuthType, ClientSecret, OAuth2, Probe, ProbeMethod, REFRESH_TOKEN,
    TokenAuth, UrlTemplate, expand_text,
};
use reqwest::{
    RequestBuilder, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue},
};
use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

pub(crate) use self::answer::{Grant, TokenFailure, Verdict, error_text};
use crate::{config::DeliveryConfig, error::PlatformError};

/// The time for an app to answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Parameters of a token request that must not be told, even if the app repeats them.
const SECRET_PARAMETERS: [&str; 3] = ["code", "code_verifier", "refresh_token"];
/// Bytes of an answer that are read.
const ANSWER_MAX: usize = 256 * 1024;

/// HTTP client for apps' token and probe endpoints.
pub(crate) struct Provider {
    /// For hosts that the operator has written down: those are reached wherever they are.
    trusted: reqwest::Client,
    /// For hosts that depend on a user's input.
    guarded: reqwest::Client,
    network: NetworkPolicy,
}

struct Answered {
    status: StatusCode,
    body: Vec<u8>,
}

impl Provider {
    /// A client under the rules of deliveries.
    ///
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(crate) fn new(config: &DeliveryConfig) -> Result<Self, PlatformError> {
        let client = |policy: &NetworkPolicy| {
            client_builder(policy, config.ca.as_ref())
                .timeout(TIMEOUT)
                .user_agent(concat!("headwater/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| {
                    PlatformError::Unavailable(format!("HTTP cannot be set up: {error}"))
                })
        };
        Ok(Self {
            trusted: client(&NetworkPolicy::All)?,
            guarded: client(&config.network)?,
            network: config.network.clone(),
        })
    }

    /// A token from `url` for the code that the user came back with, or for a refresh token, as `parameters` say.
    pub(crate) async fn grant(
        &self,
        oauth2: &OAuth2,
        url: &UrlTemplate,
        fields: &Map<String, Value>,
        parameters: &[(&str, &str)],
    ) -> Result<Grant, TokenFailure> {
        let answered = self
            .post_form(oauth2, url, fields, parameters)
            .await
            .map_err(TokenFailure::Unreachable)?;
        let sent = parameters
            .iter()
            .filter(|(name, _)| SECRET_PARAMETERS.contains(name));
        let mut secrets: Vec<&str> = sent.map(|(_, value)| *value).collect();
        secrets.extend(oauth2.client_secret.as_ref().map(ClientSecret::expose));
        answer::grant(oauth2, answered.status, &answered.body, &secrets)
    }

    /// Gives a token back.
    ///
    /// # Errors
    /// Why it may still be good.
    pub(crate) async fn revoke(
        &self,
        oauth2: &OAuth2,
        url: &UrlTemplate,
        fields: &Map<String, Value>,
        kind: &str,
        token: &str,
    ) -> Result<(), String> {
        let parameters = [("token", token), ("token_type_hint", kind)];
        let answered = self.post_form(oauth2, url, fields, &parameters).await?;
        match answered.status.is_success() {
            true => Ok(()),
            false => Err(format!("the app answered with {}", answered.status)),
        }
    }

    /// Asks the app whether credentials are good.
    pub(crate) async fn probe(
        &self,
        app: &AppDefinition,
        probe: &Probe,
        fields: &Map<String, Value>,
    ) -> Verdict {
        match self.ask(app, probe, fields).await {
            Ok(answered) => {
                let secrets = secrets_of(app, fields);
                answer::verdict(probe, answered.status, &answered.body, &secrets)
            }
            Err(reason) => Verdict::Unknown(reason),
        }
    }

    async fn ask(
        &self,
        app: &AppDefinition,
        probe: &Probe,
        fields: &Map<String, Value>,
    ) -> Result<Answered, String> {
        let (client, url) = self.client(&probe.url, fields)?;
        let mut request = match probe.method {
            ProbeMethod::Get => client.get(url),
            ProbeMethod::Post => client.post(url),
        };
        let named = |header: &str| probe.headers.keys().any(|n| n.eq_ignore_ascii_case(header));
        for (name, value) in &probe.headers {
            let value = expand_text(value, fields)?;
            let parsed = name.parse::<HeaderName>().ok();
            let header = parsed.zip(HeaderValue::from_str(&value).ok());
            let (name, value) =
                header.ok_or_else(|| format!("`{name}` cannot be sent as a header"))?;
            request = request.header(name, value);
        }
        if app.auth == AuthType::Oauth2 && !named("authorization") {
            let token = expand_text("Bearer {oauth_access_token}", fields)?;
            request = request.header(AUTHORIZATION, token);
        }
        if let Some(body) = &probe.body {
            let request_with_type = request.header(CONTENT_TYPE, "application/json");
            request = request_with_type.body(body.clone());
        }
        answered(request.header(ACCEPT, "application/json")).await
    }

    /// POSTs a form as the client that the node is at the app.
    async fn post_form(
        &self,
        oauth2: &OAuth2,
        url: &UrlTemplate,
        fields: &Map<String, Value>,
        parameters: &[(&str, &str)],
    ) -> Result<Answered, String> {
        let (client, url) = self.client(url, fields)?;
        let id = oauth2.client_id.as_deref().unwrap_or_default();
        let secret = oauth2.client_secret.as_ref().map(|secret| secret.expose());
        let mut pairs = parameters.to_vec();
        let mut request = client.post(url);
        match (oauth2.token_auth, secret) {
            (TokenAuth::Basic, Some(secret)) => {
                request = request.header(AUTHORIZATION, basic(id, secret));
            }
            (TokenAuth::Body, Some(secret)) => {
                pairs.extend([("client_id", id), ("client_secret", secret)]);
            }
            (_, None) => pairs.push(("client_id", id)),
        }
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs)
            .finish();
        let request = request
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form);
        answered(request).await
    }

    fn client(
        &self,
        url: &UrlTemplate,
        fields: &Map<String, Value>,
    ) -> Result<(&reqwest::Client, Url), String> {
        let text = url.expand(fields)?;
        let parsed = Url::parse(&text).map_err(|error| format!("its URL is malformed: {error}"))?;
        if url.has_fixed_host() {
            return Ok((&self.trusted, parsed));
        }
        check_host(&self.network, &parsed).map_err(|refused| refused.to_string())?;
        Ok((&self.guarded, parsed))
    }
}

/// RFC 6749, 2.3.1: both parts are form-encoded before they are put together.
fn basic(id: &str, secret: &str) -> String {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret));
    format!("Basic {}", STANDARD.encode(pair))
}

async fn answered(request: RequestBuilder) -> Result<Answered, String> {
    let mut response = request.send().await.map_err(explained)?;
    let status = response.status();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(explained)? {
        if body.len() + chunk.len() > ANSWER_MAX {
            return Err(format!("the app's answer is over {ANSWER_MAX} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answered { status, body })
}

/// The cause in words, without the URL, which may hold a secret.
fn explained(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("the app did not answer within {TIMEOUT:?}");
    }
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    format!("the app cannot be reached: {cause}")
}

/// The values of an account that must not be told, even if the app repeats them.
fn secrets_of<'a>(app: &AppDefinition, fields: &'a Map<String, Value>) -> Vec<&'a str> {
    let is_secret = |name: &str| {
        matches!(name, ACCESS_TOKEN | REFRESH_TOKEN)
            || app
                .fields
                .iter()
                .any(|field| field.name == name && field.secret)
    };
    let secret = fields.iter().filter(|(name, _)| is_secret(name));
    secret.filter_map(|(_, value)| value.as_str()).collect()
}

/// The access token among an account's fields.
pub(super) fn access_token(fields: &Map<String, Value>) -> Option<&str> {
    fields.get(ACCESS_TOKEN)?.as_str()
}
