//! Failures of the way to the relay in the words of the caller: with the relay's name, without its password,
//! and with the judgement whether trying again may help.

use std::{error::Error as _, time::Duration};

use lettre::transport::smtp::Error as SmtpError;

use super::{error::SendError, relay::Relay};

/// The step at which sending failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Connect,
    Encrypt,
    LogIn,
    Deliver,
}

/// The way in which a step failed.
#[derive(Debug)]
pub(super) enum Failure {
    Smtp(SmtpError),
    /// The relay offers no encryption, and there is a password.
    PasswordInTheOpen,
}

/// A failure in the words of the caller.
pub(super) fn told(relay: &Relay, stage: Stage, failure: &Failure) -> SendError {
    let error = match failure {
        Failure::PasswordInTheOpen => return password_in_the_open(relay),
        Failure::Smtp(error) => error,
    };
    let said = relay.without_password(&said(error));
    let text = match stage {
        Stage::Connect => format!("Cannot reach the mail server {relay} ({said})"),
        Stage::Encrypt => {
            format!("Cannot encrypt the connection to the mail server {relay} ({said})")
        }
        Stage::LogIn => {
            format!("The mail server {relay} did not accept user and password ({said})")
        }
        Stage::Deliver => format!("The mail server {relay} did not take the message ({said})"),
    };
    // A client's error while delivering is about the message, which needs something the relay does not offer.
    // Before that it is about settings, which may be mended while the message waits.
    if error.is_permanent() || stage == Stage::Deliver && error.is_client() {
        SendError::Refused(text)
    } else {
        SendError::Unavailable(text)
    }
}

/// The relay did not say anything in time.
pub(super) fn late(relay: &Relay, timeout: Duration) -> SendError {
    let seconds = timeout.as_secs();
    SendError::Unavailable(format!(
        "The mail server {relay} did not answer within {seconds} s"
    ))
}

fn password_in_the_open(relay: &Relay) -> SendError {
    SendError::Unavailable(format!(
        "The mail server {relay} offers no encryption, and the password would be sent in the open; \
         use smtps://, or add ?tls=never to the SMTP URL if the network can be trusted"
    ))
}

/// The answer of the relay with its code, or the error of the connection.
fn said(error: &SmtpError) -> String {
    match (error.status(), error.source()) {
        (Some(code), Some(message)) => format!("{code} {message}"),
        _ => error.to_string(),
    }
}
