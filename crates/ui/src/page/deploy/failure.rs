//! Errors that a form shows above what was entered; others have a page of their own.

use headwater_model::error::Invalid;
use headwater_platform::PlatformError;
use maud::{Markup, html};

use crate::{
    part::{
        icon::{Icon, icon},
        text,
    },
    problem::{Problem, capital},
};

/// The titles of failures.
pub(crate) const NOT_SAVED: &str = "It was not saved";
pub(crate) const NOT_TRIED: &str = "It was not tried";

/// The reason why something of a form was not done.
pub(crate) enum Failure {
    /// The value of a prop does not fit: `PROP`, or `PROP.part`.
    Value(Invalid),
    /// The component's code failed.
    Code {
        message: String,
        stack: Option<String>,
    },
    /// Something else that the next attempt may not meet.
    Told(String),
}

/// Errors that an account's fields mend, by a part of their text, with the next step where the text itself does not say it.
const OF_ACCOUNTS: [(&str, &str); 10] = [
    (
        "does not support SSL",
        "The component encrypts its connection, and the server does not: turn TLS on at the server; a certificate that it has signed itself will do if the account says so under “TLS verification”",
    ),
    ("self-signed certificate", CERTIFICATE),
    ("self signed certificate", CERTIFICATE),
    ("unable to verify the first certificate", CERTIFICATE),
    (
        "ECONNREFUSED",
        "Nothing listens at the host and port of the account",
    ),
    (
        "ENOTFOUND",
        "The host of the account has no address: look for a mistake in its name",
    ),
    ("password authentication failed", REFUSED),
    ("Access denied for user", REFUSED),
    (
        "no pg_hba.conf entry",
        "The server takes no connection like this one: its operator has to allow it",
    ),
    ("status code 401", REFUSED),
];
const CERTIFICATE: &str = "The server's certificate is signed by no authority that is known: reconnect the account with “skip” under “TLS verification”, or with the CA that has signed it";
const REFUSED: &str = "The credentials of the account are not accepted: reconnect it with others";

/// A message with the next step, where there is one.
pub(super) fn advised(message: String) -> String {
    let found = OF_ACCOUNTS.iter().find(|(part, _)| message.contains(part));
    match found {
        Some((_, advice)) => format!("{}. {advice}.", message.trim_end_matches('.')),
        None => message,
    }
}

/// Whether a message tells of something that an account's fields mend.
pub(super) fn is_of_account(message: &str) -> bool {
    OF_ACCOUNTS.iter().any(|(part, _)| message.contains(part))
}

impl Failure {
    /// The failure, if a form shows it.
    pub(crate) fn of(error: PlatformError) -> Result<Self, Problem> {
        match error {
            PlatformError::InvalidProps(Invalid { field, reason }) => {
                let prop = field.strip_prefix("configured_props.").unwrap_or(&field);
                Ok(Self::Value(Invalid::new(prop, reason)))
            }
            PlatformError::Component { stage, error } => Ok(Self::Code {
                message: advised(format!("{}: {}", capital(&stage), error.line())),
                stack: Some(error.stack).filter(|stack| !stack.is_empty()),
            }),
            PlatformError::Invalid(invalid) => Ok(Self::Told(invalid.to_string())),
            error @ (PlatformError::Unreachable(_)
            | PlatformError::Conflict(_)
            | PlatformError::TooManyWaiting { .. }
            | PlatformError::Unavailable(_)) => Ok(Self::Told(error.to_string())),
            error @ (PlatformError::NotFound { .. }
            | PlatformError::EventGone { .. }
            | PlatformError::Unpublishable(_)
            | PlatformError::Unauthenticated
            | PlatformError::Forbidden(_)
            | PlatformError::KeyTaken(_)
            | PlatformError::AdminOnly
            | PlatformError::QuotaExceeded { .. }
            | PlatformError::RateLimited { .. }
            | PlatformError::SignInThrottled { .. }
            | PlatformError::Internal(_)) => Err(error.into()),
        }
    }

    /// The failure above a form that has no field of its own for it.
    pub(crate) fn markup(self, title: &str) -> Markup {
        let (message, stack) = match self {
            Self::Code { message, stack } => (message, stack),
            Self::Value(Invalid { field, reason }) => {
                (format!("The value of {field}: {reason}."), None)
            }
            Self::Told(message) => (capital(&message), None),
        };
        html! {
            section.summary-of-errors role="alert" tabindex="-1" #errors {
                h2 { (icon(Icon::Failed)) (title) }
                p { (text::sentence(&message)) }
                @if let Some(stack) = stack { (text::stack(&stack)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_an_account_mends_name_the_next_step() {
        let told = |message: &str| advised(message.to_owned());
        let refused = told("Deploy: Error: The server does not support SSL connections");
        assert!(
            refused.contains("connections. The component encrypts its connection"),
            "{refused}"
        );
        let unsigned = told("Options: Error: self-signed certificate in certificate chain");
        assert!(
            unsigned.contains("reconnect the account with “skip”"),
            "{unsigned}"
        );
        assert_eq!(told("Deploy: Error: no"), "Deploy: Error: no");
    }
}
