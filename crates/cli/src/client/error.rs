//! The failures between the client and a node, and the person's next step. Printing them is `exit`'s
//! business.

use std::time::Duration;

use serde::Deserialize;
use url::Url;

/// Filters of the API that are flags of the command line.
const FLAGS: [(&str, &str); 13] = [
    ("action", "--action"),
    ("actor", "--actor"),
    ("event_id", "--event"),
    ("event_name", "--channel"),
    ("min_ms", "--min-ms"),
    ("origin", "--origin"),
    ("outcome", "--outcome"),
    ("since", "--since"),
    ("state", "--state"),
    ("status", "--status"),
    ("target_id", "--target"),
    ("trigger", "--trigger"),
    ("until", "--until"),
];

#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    #[error("{url} has stopped answering")]
    Silent { url: Url },
}

/// The node refused.
#[derive(Debug, Default, Deserialize, thiserror::Error)]
#[error("{}", sentence(&self.message, self.param.as_deref()))]
#[serde(default)]
pub(crate) struct ApiError {
    #[serde(skip)]
    pub(crate) status: u16,
    #[serde(skip)]
    retry_after: Option<Duration>,
    pub(crate) code: String,
    message: String,
    param: Option<String>,
    stack: Option<String>,
    request_id: Option<String>,
}

/// No answer, or only half of one.
#[derive(Debug, thiserror::Error)]
#[error("cannot reach the node at {url} ({reason})")]
pub(crate) struct Unreachable {
    pub(crate) url: Url,
    reason: String,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: ApiError,
}

impl ClientError {
    /// The refusal with this answer.
    #[cfg(test)]
    pub(crate) fn of_answer(status: u16, body: &str) -> Self {
        ApiError::from_body(status, body).into()
    }

    /// A node that gave no answer, or half of one.
    pub(super) fn unreachable(url: &Url, source: reqwest::Error) -> Self {
        Self::from(Unreachable {
            url: url.clone(),
            reason: innermost(&source.without_url()),
        })
    }

    /// The kind of failure, for programs.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Api(error) if error.code.is_empty() => "unexpected_answer",
            Self::Api(error) => &error.code,
            Self::Unreachable(_) | Self::Silent { .. } => "unreachable",
        }
    }

    /// The parameter at fault, if it is one's.
    pub(crate) fn param(&self) -> Option<&str> {
        match self {
            Self::Api(error) => error.param.as_deref(),
            Self::Unreachable(_) | Self::Silent { .. } => None,
        }
    }

    /// The id of the request in the node's log, if the fault is the node's.
    pub(crate) fn request_id(&self) -> Option<&str> {
        match self {
            Self::Api(error) => error.request_id.as_deref(),
            Self::Unreachable(_) | Self::Silent { .. } => None,
        }
    }

    /// The stack of the component that threw, if one did.
    pub(crate) fn stack(&self) -> Option<&str> {
        match self {
            Self::Api(error) => error.stack.as_deref().filter(|stack| !stack.is_empty()),
            Self::Unreachable(_) | Self::Silent { .. } => None,
        }
    }

    /// The same with its message and stack changed.
    pub(crate) fn map_text(self, change: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Api(error) => Self::Api(ApiError {
                message: change(&error.message),
                stack: error.stack.as_deref().map(change),
                ..error
            }),
            unanswered @ (Self::Unreachable(_) | Self::Silent { .. }) => unanswered,
        }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// The status that the node answered with.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Api(error) => Some(error.status),
            Self::Unreachable(_) | Self::Silent { .. } => None,
        }
    }

    /// The time after which the node asks to be asked again.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Api(error) => error.retry_after,
            Self::Unreachable(_) | Self::Silent { .. } => None,
        }
    }

    /// Whether asking again may help: the node is away or busy.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Api(error) => error.status == 429 || error.status >= 500,
            Self::Unreachable(_) | Self::Silent { .. } => true,
        }
    }

    /// The person's next step, with the command that looks further where it helps.
    pub(crate) fn advice(&self) -> Option<String> {
        let doctor = match self {
            Self::Api(error) if error.status >= 500 => Some("`headwater doctor` checks the node"),
            Self::Unreachable(error) if error.is_about_certificate() => None,
            Self::Unreachable(_) | Self::Silent { .. } => {
                Some("`headwater doctor` checks the connection")
            }
            Self::Api(_) => None,
        };
        let doctor = match (doctor, self.request_id()) {
            (Some(doctor), Some(id)) => Some(format!("{doctor}, whose log has the request {id}")),
            (doctor, _) => doctor.map(str::to_owned),
        };
        let steps = [self.hint().map(str::to_owned), doctor];
        let steps = steps.into_iter().flatten();
        steps.reduce(|hint, doctor| format!("{hint}; {doctor}"))
    }

    /// The person's next step.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Api(error) => error.hint(),
            Self::Unreachable(error) if error.is_about_certificate() => Some(
                "the node's certificate is not trusted for this address: give that certificate, or its authority's, as a \
                 PEM file with --ca-file or HEADWATER_CA_FILE, and use a host name that is in it",
            ),
            Self::Unreachable(_) | Self::Silent { .. } => {
                Some("start a node with `headwater serve`, or name one with --url or HEADWATER_URL")
            }
        }
    }
}

impl Unreachable {
    fn is_about_certificate(&self) -> bool {
        self.reason.contains("certificate")
    }
}

impl ApiError {
    pub(super) fn from_body(status: u16, body: &str) -> Self {
        let parsed = serde_json::from_str::<ErrorBody>(body).map(|body| body.error);
        let mut error = parsed.unwrap_or_default();
        error.status = status;
        if error.message.is_empty() {
            error.message = format!("the node answered status {status}");
        }
        error
    }

    /// The same with the patience that the answer asked for.
    pub(super) fn asking_for(self, retry_after: Option<Duration>) -> Self {
        Self {
            retry_after,
            ..self
        }
    }

    /// The same in other words.
    pub(super) fn told_as(self, message: String) -> Self {
        Self { message, ..self }
    }

    /// The same about one of these filters, by its flag.
    fn naming_flag(self, filters: &[(&str, String)]) -> Self {
        let is_given = |name: &str| filters.iter().any(|(filter, _)| *filter == name);
        let param = self.param.as_deref().filter(|param| is_given(param));
        let flag = param.and_then(|param| FLAGS.iter().find(|(filter, _)| *filter == param));
        match flag {
            Some((_, flag)) => Self {
                param: Some((*flag).to_owned()),
                ..self
            },
            None => self,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self.status {
            300..=399 => Some("the node redirects to another address; give that one with --url"),
            401 => Some(
                "log in with `headwater login`, give a key with --api-key or HEADWATER_API_KEY, or name the node's \
                 data folder with --data-dir or HEADWATER_DATA_DIR",
            ),
            403 => Some(
                "the user of this key is not allowed to do that; use the key of a member of the workspace",
            ),
            404 => Some(listed_by(&self.message)),
            409 if self.message.ends_with("is not active; activate it first") => {
                Some("`headwater resume SOURCE` turns a source on again")
            }
            413 => Some("the request exceeds the node's limits; send less"),
            422 if self.message.contains("has no package `@pipedream/") => Some(
                "`headwater search WORDS` finds what is on npm; `headwater publish DIR` publishes all components of a folder, \
                 such as one of the checkout",
            ),
            422 if self.message.contains("` hook threw") => Some(
                "check its props, and its account with `headwater accounts check NAME`; if the code is yours, fix it, \
                 then try again",
            ),
            422 if self.stack.is_some() => Some("fix the component and try again"),
            422 => Some("correct what it names, then try again"),
            // The message says when the quota resets.
            429 if self.code == "quota_exceeded" => None,
            429 => Some("wait a moment and run the command again"),
            500.. => Some("try again"),
            _ => None,
        }
    }
}

/// The same error, which names the flag of the command line where it is about a filter that one gave.
pub(crate) fn naming_flags(error: anyhow::Error, filters: &[(&str, String)]) -> anyhow::Error {
    match error.downcast::<ClientError>() {
        Ok(ClientError::Api(error)) => ClientError::Api(error.naming_flag(filters)).into(),
        Ok(unanswered) => unanswered.into(),
        Err(error) => error,
    }
}

/// The command that lists things of the kind that is not there.
fn listed_by(message: &str) -> &'static str {
    const LISTS: [(&str, &str); 8] = [
        (
            "there is no deployment",
            "`headwater deployments NAME` lists those of a source or workflow",
        ),
        (
            "there is no event",
            "`headwater events NAME --full` shows the events with their ids",
        ),
        (
            "there is no delivery",
            "`headwater deliveries list` shows the deliveries",
        ),
        (
            "there is no webhook",
            "`headwater webhooks list` shows the webhooks",
        ),
        (
            "there is no account",
            "`headwater accounts list` shows the accounts",
        ),
        ("there is no run", "`headwater runs list` shows the runs"),
        (
            "there is no workflow",
            "`headwater workflows list` shows the workflows",
        ),
        (
            "there is no component",
            "`headwater list components` shows the components",
        ),
    ];
    let known = LISTS
        .iter()
        .find(|(beginning, _)| message.starts_with(beginning));
    known.map_or(
        "`headwater list` shows the sources and their ids, `headwater workflows list` the workflows; `runs` \
         lists the runs of one, and other things have their own `list` command",
        |(_, list)| *list,
    )
}

/// The cause below all others, without the number of the operating system: those above say the same.
fn innermost(error: &dyn std::error::Error) -> String {
    let last = std::iter::successors(Some(error), |error| error.source()).last();
    let text = last.unwrap_or(error).to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.replace(
        "Other(OtherError(CaUsedAsEndEntity))",
        "it has signed itself",
    )
    .replace(
        "received corrupt message of type InvalidContentType",
        "the node does not speak TLS there; write http://",
    )
}

/// The message, after the parameter's name where it is not a whole sentence.
fn sentence(message: &str, param: Option<&str>) -> String {
    let goes_on = ["is ", "must ", "has ", "needs "];
    match param {
        Some(param) if goes_on.iter().any(|verb| message.starts_with(verb)) => {
            format!("{param} {message}")
        }
        Some(param) if names(message, param) => message.to_owned(),
        Some(param) => format!("{param}: {message}"),
        None => message.to_owned(),
    }
}

/// Whether a message says which parameter it is about.
fn names(message: &str, param: &str) -> bool {
    message.starts_with(&format!("{param}:")) || message.contains(&format!("`{param}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nodes_message_is_kept() {
        let body = r#"{"error":{"code":"threw","message":"boom","param":"url","stack":"at x"}}"#;
        let error = ClientError::from(ApiError::from_body(422, body));
        assert_eq!(error.to_string(), "url: boom");
        assert_eq!(
            sentence("is empty", Some("fields.token")),
            "fields.token is empty"
        );
        assert_eq!(
            sentence("props.a: is missing", Some("props.a")),
            "props.a: is missing",
            "the place is said once"
        );
        assert_eq!(
            sentence("`url` must not contain a fragment", Some("url")),
            "`url` must not contain a fragment"
        );
        assert_eq!(error.stack(), Some("at x"));
        assert!(error.hint().is_some());
        assert!(!error.is_transient());
    }

    #[test]
    fn https_where_the_node_speaks_http_is_told_in_plain_words() {
        let told = |text: &str| innermost(&std::io::Error::other(text));
        let corrupt = told("received corrupt message of type InvalidContentType");
        assert_eq!(corrupt, "the node does not speak TLS there; write http://");
        assert_eq!(
            told("Connection refused (os error 111)"),
            "Connection refused"
        );
    }

    #[test]
    fn a_filter_is_named_by_its_flag() {
        let told = |filters: &[(&str, String)]| {
            let body = r#"{"error":{"code":"invalid","message":"no such state","param":"min_ms"}}"#;
            let error = ClientError::from(ApiError::from_body(400, body));
            naming_flags(error.into(), filters).to_string()
        };
        let given = [("min_ms", "x".to_owned())];
        assert_eq!(told(&given), "--min-ms: no such state");
        assert_eq!(told(&[]), "min_ms: no such state");
    }

    #[test]
    fn waiting_is_advised_only_where_it_helps() {
        let hint = |code: &str| {
            let body = format!(r#"{{"error":{{"code":"{code}","message":"no"}}}}"#);
            ApiError::from_body(429, &body).hint()
        };
        assert!(hint("rate_limited").unwrap().contains("wait a moment"));
        assert_eq!(hint("quota_exceeded"), None);
    }

    #[test]
    fn doctor_is_advised_where_the_node_is_at_fault() {
        let advice = |status| ClientError::Api(ApiError::from_body(status, "")).advice();
        let of_fault = advice(500).unwrap();
        assert_eq!(of_fault, "try again; `headwater doctor` checks the node");
        assert!(!advice(422).unwrap().contains("doctor"));
    }

    #[test]
    fn an_answer_of_something_else_is_told_by_its_status() {
        let error = ApiError::from_body(502, "<html>");
        assert_eq!(error.to_string(), "the node answered status 502");
    }
}
