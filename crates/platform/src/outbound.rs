//! HTTP requests to addresses that users have given: the client that keeps to the node's network policy, the
//! reasons why nothing answered, and the beginning of an answer.
//!
//! Responsible for: the addresses that may be reached (checked after name resolution), no redirects, one time
//! limit for everything, connections that are used again. Not for the meaning of an answer.

use std::{error::Error as _, iter::successors, time::Duration};

use bytes::Bytes;
use headwater_engine::network::{
    NetworkPolicy, RefusedAddress, attempt_failure, check_host, client_builder,
};
use headwater_model::{time::EpochMs, webhook::AttemptFailure};
use reqwest::{
    Method, Response,
    header::{self, HeaderMap},
};
use url::Url;

use crate::{config::DeliveryConfig, error::PlatformError};

/// The name that the node gives itself.
pub(crate) const USER_AGENT: &str = concat!("Headwater/", env!("CARGO_PKG_VERSION"));
/// Bytes of an answer that are read before the connection is given up instead of being used again.
const READ_MAX: usize = 64 * 1024;
/// The time that an answer may continue after its status.
const BODY_PATIENCE: Duration = Duration::from_secs(1);
/// Idle connections kept per host.
const IDLE_CONNECTIONS_MAX: usize = 64;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Outbound {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoAnswer {
    /// In words, without the URL, which may hold a secret.
    pub(crate) reason: String,
    /// Whether trying again cannot help: the node does not send such a request.
    pub(crate) is_refused: bool,
    /// The kind of reason.
    pub(crate) failure: AttemptFailure,
}

/// An HTTP client that reaches only what a policy allows.
pub(crate) struct Client {
    client: reqwest::Client,
    network: NetworkPolicy,
    timeout: Duration,
}

impl Client {
    /// A client under the rules of deliveries that gives each request its time.
    ///
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(crate) fn new(config: &DeliveryConfig, timeout: Duration) -> Result<Self, PlatformError> {
        Self::within(config.network.clone(), config, timeout)
    }

    /// A client for hosts that the operator has written down: those are reached wherever they are.
    ///
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(crate) fn trusting(
        config: &DeliveryConfig,
        timeout: Duration,
    ) -> Result<Self, PlatformError> {
        Self::within(NetworkPolicy::All, config, timeout)
    }

    fn within(
        network: NetworkPolicy,
        config: &DeliveryConfig,
        timeout: Duration,
    ) -> Result<Self, PlatformError> {
        let client = client_builder(&network, config.ca.as_ref())
            .timeout(timeout)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .build()
            .map_err(|error| {
                PlatformError::Unavailable(format!("HTTP cannot be set up: {error}"))
            })?;
        Ok(Self {
            client,
            network,
            timeout,
        })
    }

    /// Sends, and waits for the head of the answer.
    ///
    /// # Errors
    /// Nothing answered, or the request may not be sent.
    pub(crate) async fn send(&self, request: Outbound) -> Result<Response, NoAnswer> {
        check_host(&self.network, &request.url).map_err(|refused| NoAnswer {
            reason: refused.to_string(),
            is_refused: true,
            failure: AttemptFailure::Blocked,
        })?;
        self.client
            .request(request.method, request.url)
            .headers(request.headers)
            .body(request.body)
            .send()
            .await
            .map_err(|error| self.explain(error))
    }

    fn explain(&self, error: reqwest::Error) -> NoAnswer {
        if error.is_timeout() {
            return NoAnswer::late(self.timeout);
        }
        let is_refused = error.is_builder();
        let failure = attempt_failure(&error);
        let context = match error.is_connect() {
            true => "cannot connect",
            false => "no valid HTTP answer",
        };
        let error = error.without_url();
        let causes = || {
            successors(
                error.source(),
                |cause: &&(dyn std::error::Error + 'static)| (*cause).source(),
            )
        };
        if let Some(refused) = causes().find_map(|cause| cause.downcast_ref::<RefusedAddress>()) {
            return NoAnswer {
                reason: refused.to_string(),
                is_refused: true,
                failure,
            };
        }
        let first = causes().last().map(ToString::to_string);
        let first = first.unwrap_or_else(|| error.to_string());
        NoAnswer {
            reason: format!("{context}: {first}"),
            is_refused,
            failure,
        }
    }
}

impl NoAnswer {
    /// The time was over.
    pub(crate) fn late(timeout: Duration) -> Self {
        Self {
            reason: format!("no answer within {timeout:?}"),
            is_refused: false,
            failure: AttemptFailure::Timeout,
        }
    }
}

/// The beginning of an answer's body, at most `bytes_max` of it. Reads a short body to its end, so that the
/// connection can be used again; a long, slow or broken one is given up, which costs nothing but the connection.
pub(crate) async fn excerpt(mut response: Response, bytes_max: usize) -> Option<String> {
    let mut kept = Vec::new();
    let reading = async {
        let mut read = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = bytes_max - kept.len();
            kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
            read += chunk.len();
            if read > READ_MAX {
                return;
            }
        }
    };
    // Either way the status has come, and the bytes read until now are kept.
    let _ = tokio::time::timeout(BODY_PATIENCE, reading).await;
    text(&kept, bytes_max)
}

/// Bytes as text that every store can keep, at most `bytes_max` of it.
fn text(bytes: &[u8], bytes_max: usize) -> Option<String> {
    let mut text = String::from_utf8_lossy(bytes).replace('\0', "\u{FFFD}");
    text.truncate(text.floor_char_boundary(bytes_max));
    (!text.is_empty()).then_some(text)
}

/// `Retry-After` in seconds or as a date; any other text counts as absent.
pub(crate) fn retry_after(headers: &HeaderMap, now_ms: EpochMs) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = chrono::DateTime::parse_from_rfc2822(value).ok()?;
    let date_ms = EpochMs(u64::try_from(date.timestamp_millis()).ok()?);
    Some(date_ms.since(now_ms))
}

/// A name with everything but visible ASCII percent-encoded, so that it fits into a header.
pub(crate) fn visible_ascii(name: &str) -> String {
    use std::fmt::Write as _;

    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'!'..=b'~' if byte != b'%' => encoded.push(char::from(byte)),
            _ => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
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
        assert_eq!(text(b"", 1024), None);
        assert_eq!(text(b"fine", 1024).as_deref(), Some("fine"));
        assert_eq!(
            text(b"a\0b\xff", 1024).as_deref(),
            Some("a\u{FFFD}b\u{FFFD}")
        );
        let garbage = text(&[0xff; 1024], 1024).unwrap();
        assert!(garbage.len() <= 1024 && garbage.len() > 1000);
    }

    #[test]
    fn a_name_of_any_kind_fits_into_a_header() {
        for (name, header) in [
            ("orders", "orders"),
            ("$errors", "$errors"),
            ("new orders", "new%20orders"),
            ("100%", "100%25"),
            ("größe\r\nx: y", "gr%C3%B6%C3%9Fe%0D%0Ax:%20y"),
        ] {
            let encoded = visible_ascii(name);
            assert_eq!(encoded, header);
            assert!(header::HeaderValue::try_from(encoded).is_ok());
        }
    }
}
