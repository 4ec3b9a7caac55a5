//! The meaning of an app's answers. Pure: no address, no time.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use headwater_model::app::{ACCESS_TOKEN, OAuth2, Probe, REFRESH_TOKEN, UID};
use reqwest::StatusCode;
use serde_json::{Map, Value};

/// An app's answer about credentials.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It accepts them; with their identity, if it tells.
    Good(Option<Value>),
    /// It does not.
    Bad(String),
    /// It did not say.
    Unknown(String),
}

/// Characters of an app's own words that are told.
const WORDS_MAX: usize = 200;
/// The words in an app's answer that mean that it does not accept the credentials.
const OF_CREDENTIALS: [&str; 8] = [
    "auth",
    "token",
    "credential",
    "api key",
    "api_key",
    "inactive",
    "expired",
    "revoked",
];
/// Shorter ones would be found in ordinary words.
const SECRET_MIN: usize = 6;

/// The answer of a token endpoint.
#[derive(Debug)]
pub(crate) struct Grant {
    /// Fields of `$auth`: the tokens, and the values that the definition finds in the answer.
    pub(crate) fields: Map<String, Value>,
    /// The lifetime of the access token, if that was said.
    pub(crate) expires_in: Option<Duration>,
}

/// Why a token endpoint gives nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenFailure {
    /// The user's consent has ended (`invalid_grant`).
    Ended(String),
    /// The app does not take the node's request: its client, or the definition, is wrong.
    Rejected(String),
    /// The app did not answer, or with an error of its own.
    Unreachable(String),
}

impl TokenFailure {
    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::Ended(reason) | Self::Rejected(reason) | Self::Unreachable(reason) => reason,
        }
    }
}

/// Reads a token endpoint's answer. Some apps answer errors with 200.
pub(super) fn grant(
    oauth2: &OAuth2,
    status: StatusCode,
    body: &[u8],
    secrets: &[&str],
) -> Result<Grant, TokenFailure> {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let code = answer["error"].as_str();
    if let Some(code) = code.filter(|_| !status.is_server_error()) {
        let reason = error_text(code, answer["error_description"].as_str(), secrets);
        return Err(match code {
            "invalid_grant" | "bad_refresh_token" | "invalid_refresh_token" => {
                TokenFailure::Ended(reason)
            }
            "temporarily_unavailable" | "server_error" | "slow_down" => {
                TokenFailure::Unreachable(reason)
            }
            _ => TokenFailure::Rejected(reason),
        });
    }
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        let reason = format!("the token endpoint answered with {status}");
        return Err(TokenFailure::Unreachable(reason));
    }
    if !status.is_success() {
        let reason = format!("the token endpoint answered with {status}");
        return Err(TokenFailure::Rejected(reason));
    }
    let fields = granted(oauth2, &answer);
    if !fields.contains_key(ACCESS_TOKEN) {
        let reason = "the token endpoint's answer has no access token".to_owned();
        return Err(TokenFailure::Rejected(reason));
    }
    let pointer = oauth2.expires_in.as_deref();
    let life = pointer.and_then(|pointer| answer.pointer(pointer));
    Ok(Grant {
        fields,
        expires_in: seconds(life.unwrap_or(&answer["expires_in"])),
    })
}

fn granted(oauth2: &OAuth2, answer: &Value) -> Map<String, Value> {
    let mut fields = Map::new();
    // An app that gives the token below something else may renew it at the top, where another one was before.
    let pointer = oauth2.token_fields.get(ACCESS_TOKEN);
    let is_elsewhere = pointer.is_some_and(|pointer| answer.pointer(pointer).is_none());
    let tokens = [
        (ACCESS_TOKEN, &answer["access_token"]),
        (REFRESH_TOKEN, &answer["refresh_token"]),
    ];
    for (name, token) in tokens {
        if token.as_str().is_some_and(|token| !token.is_empty()) {
            fields.insert(name.to_owned(), token.clone());
        }
    }
    if let Some(subject) = answer["id_token"].as_str().and_then(subject) {
        fields.insert(UID.to_owned(), subject);
    }
    for (name, pointer) in oauth2.token_fields.iter().filter(|_| !is_elsewhere) {
        if let Some(value) = answer.pointer(pointer).filter(|value| !value.is_null()) {
            fields.insert(name.clone(), value.clone());
        }
    }
    fields
}

/// Whom an ID token is about. It came from the token endpoint itself, so its signature says nothing more
/// (OpenID Connect Core, 3.1.3.7).
fn subject(token: &str) -> Option<Value> {
    let payload = token.split('.').nth(1)?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    claims["sub"].as_str().map(Value::from)
}

/// A number of seconds, which some apps write as text.
fn seconds(value: &Value) -> Option<Duration> {
    let seconds = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    seconds.map(Duration::from_secs)
}

/// An app's text about a failure: in one line, not long, and without the values that were sent to it.
pub(crate) fn error_text(code: &str, description: Option<&str>, secrets: &[&str]) -> String {
    let text = match description {
        Some(description) => format!("{code}: {description}"),
        None => code.to_owned(),
    };
    let secrets = secrets.iter().filter(|secret| secret.len() >= SECRET_MIN);
    let text = secrets.fold(text, |text, secret| text.replace(secret, "…"));
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(WORDS_MAX)
        .collect();
    text.trim().to_owned()
}

/// The verdict of a probe's answer about the credentials.
pub(super) fn verdict(probe: &Probe, status: StatusCode, body: &[u8], secrets: &[&str]) -> Verdict {
    if status == StatusCode::UNAUTHORIZED {
        return Verdict::Bad(format!("the app answered with {status}"));
    }
    if status == StatusCode::FORBIDDEN {
        // It knows the caller. Good credentials may not suffice for the question.
        return Verdict::Unknown(format!(
            "the app answered with {status}; the scopes may not suffice"
        ));
    }
    if !status.is_success() {
        return Verdict::Unknown(format!("the app answered with {status}"));
    }
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    if let Some(pointer) = &probe.ok
        && answer.pointer(pointer).is_none_or(is_nothing)
    {
        return not_ok(&answer, secrets);
    }
    let uid = probe.uid.as_deref();
    let uid = uid.and_then(|pointer| match answer.pointer(pointer)? {
        Value::String(text) => Some(Value::from(text.clone())),
        Value::Number(number) => Some(Value::from(number.to_string())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    Verdict::Good(uid)
}

/// An app that says no in a successful answer says why. Only some reasons are about the credentials.
fn not_ok(answer: &Value, secrets: &[&str]) -> Verdict {
    let why = [&answer["error"], &answer["errors"]];
    let why = why.into_iter().find(|why| !why.is_null());
    let why = match why {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => {
            return Verdict::Unknown(
                "the app's answer does not show whether it accepts the credentials".to_owned(),
            );
        }
    };
    let lower = why.to_lowercase();
    let is_about_credentials = OF_CREDENTIALS.iter().any(|sign| lower.contains(sign));
    let why = error_text(&why, None, secrets);
    match is_about_credentials {
        true => Verdict::Bad(format!("the app does not accept the credentials: {why}")),
        false => Verdict::Unknown(format!(
            "the app does not say whether it accepts the credentials: {why}"
        )),
    }
}

fn is_nothing(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn oauth2(token_fields: Value) -> OAuth2 {
        serde_json::from_value(json!({
            "authorize_url": "https://app.example/a", "token_url": "https://app.example/t",
            "token_fields": token_fields,
        }))
        .unwrap()
    }

    fn read(status: u16, answer: Value) -> Result<Grant, TokenFailure> {
        let status = StatusCode::from_u16(status).unwrap();
        let body = answer.to_string();
        grant(&oauth2(json!({})), status, body.as_bytes(), &["old-token"])
    }

    #[test]
    fn a_grant_is_its_tokens_and_what_the_definition_finds() {
        let answer = json!({
            "access_token": "bot", "refresh_token": "r", "expires_in": "3600", "id_token": "e30.eyJzdWIiOiJtZSJ9.x",
            "authed_user": {"access_token": "user", "id": null},
        });
        let found = json!({"oauth_access_token": "/authed_user/access_token", "bot_token": "/access_token",
            "oauth_uid": "/authed_user/id"});
        let text = answer.to_string();
        let grant = grant(&oauth2(found), StatusCode::OK, text.as_bytes(), &[]).unwrap();
        let expected = json!({"oauth_access_token": "user", "oauth_refresh_token": "r", "oauth_uid": "me",
            "bot_token": "bot"});
        assert_eq!(Value::Object(grant.fields), expected);
        assert_eq!(grant.expires_in, Some(Duration::from_secs(3600)));
    }

    #[test]
    fn a_token_below_something_is_renewed_at_the_top() {
        let mut slack = oauth2(json!({
            "oauth_access_token": "/authed_user/access_token", "bot_token": "/access_token",
        }));
        slack.expires_in = Some("/authed_user/expires_in".to_owned());
        let read = |answer: Value| {
            let text = answer.to_string();
            grant(&slack, StatusCode::OK, text.as_bytes(), &[]).unwrap()
        };
        let first = read(json!({
            "access_token": "bot", "authed_user": {"access_token": "user", "expires_in": 43200},
        }));
        let expected = json!({"oauth_access_token": "user", "bot_token": "bot"});
        assert_eq!(Value::Object(first.fields), expected);
        assert_eq!(first.expires_in, Some(Duration::from_secs(43_200)));
        let renewed = read(json!({"access_token": "user-2", "expires_in": 600}));
        let expected = json!({"oauth_access_token": "user-2"});
        assert_eq!(Value::Object(renewed.fields), expected);
        assert_eq!(renewed.expires_in, Some(Duration::from_secs(600)));
    }

    #[test]
    fn what_a_failure_means_depends_on_its_code() {
        let ended = |reason: &str| TokenFailure::Ended(reason.to_owned());
        let rejected = |reason: &str| TokenFailure::Rejected(reason.to_owned());
        let unreachable = |reason: &str| TokenFailure::Unreachable(reason.to_owned());
        for (status, answer, expected) in [
            (
                400,
                json!({"error": "invalid_grant"}),
                ended("invalid_grant"),
            ),
            (
                200,
                json!({"ok": false, "error": "invalid_refresh_token"}),
                ended("invalid_refresh_token"),
            ),
            (
                401,
                json!({"error": "invalid_client", "error_description": "no\nclient"}),
                rejected("invalid_client: no client"),
            ),
            (
                400,
                json!({"error": "temporarily_unavailable"}),
                unreachable("temporarily_unavailable"),
            ),
            (
                503,
                json!({"error": "invalid_grant"}),
                unreachable("the token endpoint answered with 503 Service Unavailable"),
            ),
            (
                429,
                json!({}),
                unreachable("the token endpoint answered with 429 Too Many Requests"),
            ),
            (
                404,
                json!("no"),
                rejected("the token endpoint answered with 404 Not Found"),
            ),
            (
                200,
                json!({"ok": true}),
                rejected("the token endpoint's answer has no access token"),
            ),
        ] {
            assert_eq!(
                read(status, answer.clone()).unwrap_err(),
                expected,
                "{answer}"
            );
        }
    }

    #[test]
    fn what_was_sent_is_not_repeated() {
        let answer = json!({"error": "invalid_grant", "error_description": "`old-token` is used"});
        let failure = read(400, answer).unwrap_err();
        assert_eq!(failure.reason(), "invalid_grant: `…` is used");
    }

    #[test]
    fn a_probe_is_judged_by_its_status_or_by_what_it_says() {
        let probe: Probe = serde_json::from_value(
            json!({"url": "https://app.example", "ok": "/ok", "uid": "/user"}),
        )
        .unwrap();
        let judge = |status: u16, answer: Value| {
            let status = StatusCode::from_u16(status).unwrap();
            verdict(
                &probe,
                status,
                answer.to_string().as_bytes(),
                &["sesame-open"],
            )
        };
        assert_eq!(
            judge(200, json!({"ok": true, "user": 7})),
            Verdict::Good(Some(json!("7")))
        );
        assert_eq!(judge(200, json!({"ok": {}})), Verdict::Good(None));
        let bad = "the app does not accept the credentials: invalid_auth";
        assert_eq!(
            judge(200, json!({"ok": false, "error": "invalid_auth"})),
            Verdict::Bad(bad.to_owned())
        );
        let graphql =
            json!({"data": null, "errors": [{"message": "API key sesame-open is not valid"}]});
        let bad =
            "the app does not accept the credentials: [{\"message\":\"API key … is not valid\"}]";
        assert_eq!(judge(200, graphql), Verdict::Bad(bad.to_owned()));
        for no_news in [
            json!({"ok": false, "error": "ratelimited"}),
            json!({"errors": [{"message": "Complexity budget exhausted"}]}),
            json!({"ok": false}),
            json!("maintenance"),
        ] {
            let judged = judge(200, no_news.clone());
            assert!(matches!(judged, Verdict::Unknown(_)), "{no_news}");
        }
        assert!(matches!(judge(401, json!({})), Verdict::Bad(_)));
        assert!(matches!(judge(403, json!({})), Verdict::Unknown(_)));
        assert!(matches!(judge(500, json!({})), Verdict::Unknown(_)));
        assert!(matches!(judge(404, json!({})), Verdict::Unknown(_)));
    }
}
