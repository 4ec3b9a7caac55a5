//! An attempt of `$.send.http`: the request, redirects, and the meaning of the answer.

mod redirect;
mod request;

use std::time::Duration;

use headwater_model::{time::EpochMs, webhook::AttemptFailure};
use headwater_store::ClaimedSend;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json, value::RawValue};
use url::Url;

use self::request::Request;
use super::{
    shown,
    verdict::{Ended, Outcome},
};
use crate::outbound::{Client, NoAnswer, Outbound, excerpt, retry_after};

/// The time of an attempt, redirects included.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
const REDIRECTS_MAX: usize = 5;
/// Bytes of an answer that are read for people: more than is shown, so that a credential at the edge is found.
const ANSWER_BYTES_MAX: usize = 8 * 1024;

/// Sends once, redirects followed.
pub(super) async fn attempted(client: &Client, send: &ClaimedSend, now_ms: EpochMs) -> Ended {
    let request = match Request::read(&send.value) {
        Ok(request) => request.named(&send.id),
        Err(reason) => return Ended::failed(reason),
    };
    let shown = request.shown();
    let credentials = request.credentials;
    let exchange = exchange(client, request.outbound, now_ms, &credentials);
    let ended = match tokio::time::timeout(TIMEOUT, exchange).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(no_answer)) => Ended::unanswered(no_answer),
        Err(_) => Ended::unanswered(NoAnswer::late(TIMEOUT)),
    };
    let error = ended
        .error
        .map(|error| shown::without(&credentials, &error));
    Ended { error, ..ended }.with_request(shown)
}

/// The arguments, fit to be shown; null if they cannot be read.
pub(super) fn shown(value: &RawValue) -> Value {
    Request::read(value).map_or(Value::Null, |request| request.shown())
}

async fn exchange(
    client: &Client,
    mut hop: Outbound,
    now_ms: EpochMs,
    credentials: &[String],
) -> Result<Ended, NoAnswer> {
    let first = hop.url.clone();
    for _ in 0..=REDIRECTS_MAX {
        let response = client.send(hop.clone()).await?;
        match redirect::next(&hop, response.status(), response.headers())? {
            Some(next) => hop = next,
            None => {
                let redirected_to = (hop.url != first).then_some(&hop.url);
                return Ok(judged(response, redirected_to, now_ms, credentials).await);
            }
        }
    }
    Err(NoAnswer {
        reason: format!("redirected more than {REDIRECTS_MAX} times"),
        is_refused: true,
        failure: AttemptFailure::Redirect,
    })
}

async fn judged(
    response: Response,
    redirected_to: Option<&Url>,
    now_ms: EpochMs,
    credentials: &[String],
) -> Ended {
    let status = response.status();
    let retry_after = retry_after(response.headers(), now_ms);
    let mut shown = json!({
        "status": status.as_u16(),
        "headers": shown::headers(response.headers()),
    });
    if let Some(url) = redirected_to {
        shown["url"] = shown::url(url).into();
    }
    if let Some(body) = excerpt(response, ANSWER_BYTES_MAX).await {
        shown["body"] = shown::cut(&shown::without(credentials, &body)).into();
    }
    let outcome = outcome(status, retry_after);
    Ended {
        outcome,
        error: (outcome != Outcome::Sent).then(|| format!("the receiver answered {status}")),
        ..Ended::sent(Some(shown))
    }
}

fn outcome(status: StatusCode, retry_after: Option<Duration>) -> Outcome {
    match status {
        StatusCode::TOO_MANY_REQUESTS => Outcome::Again(retry_after),
        _ if status.is_server_error() => Outcome::Again(retry_after),
        _ if status.is_client_error() => Outcome::Failed,
        _ => Outcome::Sent,
    }
}
