//! Sending one attempt over HTTP and reading no more of the answer than is kept.
//!
//! Responsible for: the addresses that may be reached (checked after name resolution), no redirects,
//! one time limit for everything, connections that are used again. Not for the meaning of an answer.

use std::{
    error::Error as _,
    time::{Duration, Instant},
};

use headwater_engine::network::{NetworkPolicy, RefusedAddress, check_host, client_builder};
use headwater_model::{time::EpochMs, webhook::RESPONSE_EXCERPT_BYTES};
use reqwest::header::{self, HeaderMap};
use url::Url;

use super::request::Request;
use crate::{config::DeliveryConfig, error::PlatformError};

/// Bytes of an answer that are read before the connection is given up instead of being used again.
const READ_MAX: usize = 64 * 1024;
/// The time that an answer may continue after its status.
const BODY_PATIENCE: Duration = Duration::from_secs(1);
/// Idle connections kept per host.
const IDLE_CONNECTIONS_MAX: usize = 64;

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: Option<u16>,
    pub(super) response_excerpt: Option<String>,
    /// `Retry-After`, as seconds from now.
    pub(super) retry_after: Option<Duration>,
    /// The reason why there is no answer.
    pub(super) error: Option<String>,
    pub(super) latency_ms: u64,
}

/// The node's client for webhooks.
pub(super) struct Sender {
    client: reqwest::Client,
    network: NetworkPolicy,
    timeout: Duration,
}

impl Sender {
    /// A client that keeps to the policy and gives each attempt its time.
    ///
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(super) fn new(config: &DeliveryConfig) -> Result<Self, PlatformError> {
        let client = client_builder(&config.network, config.ca.as_ref())
            .timeout(config.attempt_timeout)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .build()
            .map_err(|error| {
                PlatformError::Unavailable(format!("HTTP cannot be set up: {error}"))
            })?;
        Ok(Self {
            client,
            network: config.network.clone(),
            timeout: config.attempt_timeout,
        })
    }

    /// POSTs, and waits for the answer.
    pub(super) async fn send(&self, url: Url, request: Request, now_ms: EpochMs) -> Answer {
        let began = Instant::now();
        let mut answer = match check_host(&self.network, &url) {
            Ok(()) => self.post(url, request, now_ms).await,
            Err(refused) => Answer {
                error: Some(refused.to_string()),
                ..Answer::default()
            },
        };
        answer.latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        answer
    }

    async fn post(&self, url: Url, request: Request, now_ms: EpochMs) -> Answer {
        let post = self.client.post(url).headers(request.headers);
        let response = match post.body(request.body).send().await {
            Ok(response) => response,
            Err(error) => {
                return Answer {
                    error: Some(self.explain(error)),
                    ..Answer::default()
                };
            }
        };
        Answer {
            status: Some(response.status().as_u16()),
            retry_after: retry_after(response.headers(), now_ms),
            response_excerpt: excerpt(response).await,
            ..Answer::default()
        }
    }

    /// The cause in words, without the URL, which may hold a secret.
    fn explain(&self, error: reqwest::Error) -> String {
        if error.is_timeout() {
            return format!("no answer within {:?}", self.timeout);
        }
        let error = error.without_url();
        let context = match error.is_connect() {
            true => "cannot connect",
            false => "no valid HTTP answer",
        };
        let mut cause = error.source();
        while let Some(error) = cause {
            if let Some(refused) = error.downcast_ref::<RefusedAddress>() {
                return refused.to_string();
            }
            match error.source() {
                Some(deeper) => cause = Some(deeper),
                None => return format!("{context}: {error}"),
            }
        }
        format!("{context}: {error}")
    }
}

/// The beginning of an answer's body. Reads a short body to its end, so that the connection can be used
/// again; a long, slow or broken one is given up, which costs nothing but the connection.
async fn excerpt(mut response: reqwest::Response) -> Option<String> {
    let mut kept = Vec::new();
    let reading = async {
        let mut read = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = RESPONSE_EXCERPT_BYTES - kept.len();
            kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
            read += chunk.len();
            if read > READ_MAX {
                return;
            }
        }
    };
    // Either way the status has come, and the bytes read until now are kept.
    let _ = tokio::time::timeout(BODY_PATIENCE, reading).await;
    text(&kept)
}

/// Bytes as text that every store can keep, at most [`RESPONSE_EXCERPT_BYTES`] of it.
fn text(bytes: &[u8]) -> Option<String> {
    let mut text = String::from_utf8_lossy(bytes).replace('\0', "\u{FFFD}");
    text.truncate(text.floor_char_boundary(RESPONSE_EXCERPT_BYTES));
    (!text.is_empty()).then_some(text)
}

/// `Retry-After` in seconds or as a date; any other text counts as absent.
fn retry_after(headers: &HeaderMap, now_ms: EpochMs) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = chrono::DateTime::parse_from_rfc2822(value).ok()?;
    let date_ms = EpochMs(u64::try_from(date.timestamp_millis()).ok()?);
    Some(date_ms.since(now_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date() {
        let now_ms = 1_700_000_000_000; // 2023-11-14 22:13:20
        for (value, seconds) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Tue, 14 Nov 2023 22:13:50 GMT", Some(30)),
            ("Tue, 14 Nov 2023 22:13:00 GMT", Some(0)),
            ("99999999999", Some(99_999_999_999)),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, value.parse().unwrap())]);
            let parsed = retry_after(&headers, EpochMs(now_ms)).map(|after| after.as_secs());
            assert_eq!(parsed, seconds, "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), EpochMs(now_ms)), None);
    }

    #[test]
    fn an_excerpt_is_bounded_text_whatever_the_bytes_are() {
        assert_eq!(text(b""), None);
        assert_eq!(text(b"fine").as_deref(), Some("fine"));
        assert_eq!(text(b"a\0b\xff").as_deref(), Some("a\u{FFFD}b\u{FFFD}"));
        let garbage = text(&[0xff; RESPONSE_EXCERPT_BYTES]).unwrap();
        assert!(garbage.len() <= RESPONSE_EXCERPT_BYTES && garbage.len() > 1000);
    }
}
