//! An attempt of `$.send.email`: a mail to the workflow's owner.

use headwater_mail::send::{Outgoing, SendError};
use headwater_store::{ClaimedSend, User};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{shown, verdict::Ended};
use crate::core::Core;

const NOT_SET_UP: &str =
    "this node sends no mail; its operator can start it with --smtp-url and --mail-from";
/// The address that the first user has when none was given. Nobody receives mail there.
const NO_ADDRESS: &str = "admin@localhost";

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    subject: String,
    text: Option<String>,
    html: Option<String>,
}

/// Hands the mail to the relay.
pub(super) async fn attempted(core: &Core, send: &ClaimedSend) -> Ended {
    let arguments: Arguments = match serde_json::from_str(send.value.get()) {
        Ok(arguments) => arguments,
        Err(error) => {
            return Ended::failed(format!("$.send.email: cannot read the arguments: {error}"));
        }
    };
    let mut shown = shown(&send.value);
    let Some(sender) = &core.config.mail else {
        return Ended::failed(NOT_SET_UP).with_request(shown);
    };
    let to = match core.store.user(&send.owner.user_id).await {
        Ok(user) => user.map_or(Err(no_owner()), address),
        Err(error) => {
            let error = error.in_full();
            tracing::error!(error, "cannot look up the recipient of a mail");
            return Ended::again("the node's store did not answer").with_request(shown);
        }
    };
    let to = match to {
        Ok(to) => to,
        Err(reason) => return Ended::failed(reason).with_request(shown),
    };
    let id = &send.id;
    let message_id = sender.message_id(id.run_id.as_str(), &id.path, id.number.into());
    shown["to"] = json!(to);
    shown["message_id"] = json!(message_id);
    let mail = Outgoing {
        to: vec![to],
        subject: arguments.subject,
        text: arguments.text,
        html: arguments.html,
        message_id,
        sent_at_ms: send.queued_at_ms.0,
        // Out-of-office replies to a program help nobody.
        headers: vec![("Auto-Submitted".to_owned(), "auto-generated".to_owned())],
    };
    let ended = match sender.send(&mail).await {
        Ok(()) => Ended::sent(None),
        Err(SendError::Refused(reason)) => Ended::failed(reason),
        Err(SendError::Unavailable(reason)) => Ended::again(reason),
    };
    ended.with_request(shown)
}

/// The arguments, fit to be shown; null if they cannot be read.
pub(super) fn shown(value: &RawValue) -> Value {
    let Ok(arguments) = serde_json::from_str::<Arguments>(value.get()) else {
        return Value::Null;
    };
    let mut shown = json!({ "subject": shown::cut(&arguments.subject) });
    for (name, text) in [("text", arguments.text), ("html", arguments.html)] {
        if let Some(text) = text {
            shown[name] = shown::cut(&text).into();
        }
    }
    shown
}

fn address(user: User) -> Result<String, String> {
    let User {
        username, email, ..
    } = user;
    match email.is_empty() || email == NO_ADDRESS {
        true => Err(format!(
            "user `{username}`, who owns the workflow, has no mail address; addresses are given when a user is \
             created: `headwater serve --email` at the first start, or `headwater users create --email`"
        )),
        false => Ok(email),
    }
}

fn no_owner() -> String {
    "the user who owned the workflow is gone".to_owned()
}
