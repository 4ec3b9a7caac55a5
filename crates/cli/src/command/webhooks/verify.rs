//! `webhooks verify`: whether a saved request was signed with a secret. Asks no node.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use headwater_model::time::{EpochMs, EpochSeconds};
use headwater_platform::Signer;
use serde_json::json;

use crate::arguments::VerifyArguments;
use crate::exit::Exit;
use crate::output;
use crate::secret;
use crate::session::Session;
use crate::timestamp;
use crate::usage_error::UsageError;

const STDIN: &str = "-";
/// Libraries of Standard Webhooks refuse requests that are further from now.
const TOLERATED: Duration = Duration::from_mins(5);

/// Fails if the signature is not of the secret.
pub(super) fn run(session: &Session, arguments: VerifyArguments) -> Result<Exit> {
    let is_stdin = arguments.body == Path::new(STDIN);
    if is_stdin && arguments.secret.as_deref() == Some(STDIN) {
        let complaint = "standard input is read once: for the body or for the secret";
        return Err(UsageError(complaint.to_owned()).into());
    }
    let body = match is_stdin {
        true => {
            let mut body = Vec::new();
            let read = std::io::stdin().read_to_end(&mut body);
            read.map(|_| body).context("cannot read the body")?
        }
        false => std::fs::read(&arguments.body)
            .with_context(|| format!("cannot read {}", arguments.body.display()))?,
    };
    let given = secret::read(arguments.secret)?;
    let signer = Signer::new(given.as_bytes()).ok_or_else(|| {
        UsageError("that is no secret of a webhook: it begins with whsec_, then base64".to_owned())
    })?;
    let time = EpochSeconds(arguments.timestamp);
    let signed = signer.verifies(&arguments.signature, &arguments.id, time, &body);
    session.print(&json!({"verified": signed}), |_| match signed {
        true => "verified".to_owned(),
        false => "not verified".to_owned(),
    })?;
    if !signed {
        output::tell(
            "no signature is of this secret, for this id, timestamp and body; the body must have every byte as it was \
             received",
        );
        return Ok(Exit::Failure);
    }
    let now_ms = timestamp::now_ms();
    if age(time, now_ms) > TOLERATED {
        let millis = i64::try_from(time.0.saturating_mul(1000)).unwrap_or(i64::MAX);
        output::tell(&format!(
            "its time is {}; libraries refuse more than {} min",
            timestamp::age(millis, now_ms),
            TOLERATED.as_secs() / 60
        ));
    }
    Ok(Exit::Success)
}

/// The time between, in either direction.
fn age(time: EpochSeconds, now_ms: EpochMs) -> Duration {
    let seconds = now_ms.to_seconds().0.abs_diff(time.0);
    Duration::from_secs(seconds)
}
