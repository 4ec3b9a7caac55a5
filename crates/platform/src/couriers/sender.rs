//! Sending one attempt over HTTP and reading no more of the answer than is kept. Not responsible for the meaning of an
//! answer.

use std::time::{Duration, Instant};

use headwater_model::{
    time::EpochMs,
    webhook::{AttemptCause, AttemptFailure, RESPONSE_EXCERPT_BYTES},
};
use headwater_store::{Attempt, AttemptHeaders};
use reqwest::Method;
use url::Url;

use super::{headers, request::WebhookRequest};
use crate::{
    config::DeliveryConfig,
    error::PlatformError,
    outbound::{Client, Outbound, excerpt, retry_after},
};

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: Option<u16>,
    pub(super) response_excerpt: Option<String>,
    /// `Retry-After`, as seconds from now.
    pub(super) retry_after: Option<Duration>,
    /// The reason why there is no answer.
    pub(super) error: Option<String>,
    /// The same as programs take it, or that the answer is none that counts.
    pub(super) failure: Option<AttemptFailure>,
    pub(super) headers: Option<AttemptHeaders>,
    pub(super) latency_ms: u64,
}

impl Answer {
    /// The attempt that it ended, as it is kept.
    pub(super) fn attempt(self, at_ms: EpochMs, cause: AttemptCause) -> Attempt {
        Attempt {
            at_ms,
            cause: Some(cause),
            latency_ms: self.latency_ms,
            status: self.status,
            response_excerpt: self.response_excerpt,
            error: self.error,
            failure: self.failure,
            headers: self.headers,
        }
    }
}

/// The node's client for webhooks.
pub(super) struct Sender {
    client: Client,
}

impl Sender {
    /// A client that keeps to the policy and gives each attempt its time.
    ///
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(super) fn new(config: &DeliveryConfig) -> Result<Self, PlatformError> {
        let client = Client::new(config, config.attempt_timeout)?;
        Ok(Self { client })
    }

    /// POSTs, and waits for the answer.
    pub(super) async fn send(&self, url: Url, request: WebhookRequest, now_ms: EpochMs) -> Answer {
        let began = Instant::now();
        let mut answer = self.post(url, request, now_ms).await;
        answer.latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        answer
    }

    async fn post(&self, url: Url, request: WebhookRequest, now_ms: EpochMs) -> Answer {
        let post = Outbound {
            method: Method::POST,
            url,
            headers: request.headers,
            body: request.body,
        };
        let mut kept = AttemptHeaders {
            request: headers::of_request(&post.headers),
            response: Vec::new(),
        };
        match self.client.send(post).await {
            Ok(response) => {
                let status = response.status().as_u16();
                kept.response = headers::of_response(response.headers());
                Answer {
                    status: Some(status),
                    retry_after: retry_after(response.headers(), now_ms),
                    response_excerpt: excerpt(response, RESPONSE_EXCERPT_BYTES).await,
                    failure: AttemptFailure::of_status(status),
                    headers: Some(kept),
                    ..Answer::default()
                }
            }
            Err(no_answer) => Answer {
                error: Some(no_answer.reason),
                failure: Some(no_answer.failure),
                headers: Some(kept),
                ..Answer::default()
            },
        }
    }
}
