//! The consequences of an attempt for its send: it ends, or is due again; and the result that people see.

use std::time::Duration;

use headwater_model::{time::EpochMs, webhook::Backoff};
use headwater_store::{ClaimedSend, SendAttempt, SendState, SendWay};
use serde_json::{Map, Value, json};

use super::shown;
use crate::{core::Core, outbound::NoAnswer};

/// The waits after failed attempts in seconds: with jitter, five attempts take less than an hour.
const WAITS_S: [u64; 4] = [10, 60, 600, 2_400];
/// The longest `Retry-After` that counts.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Sent,
    Failed,
    /// To be tried again, after the time that the other end asked for at the earliest.
    Again(Option<Duration>),
}

/// The end of an attempt.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    /// Without credentials.
    pub(super) request: Option<Value>,
    /// Without credentials.
    pub(super) response: Option<Value>,
    pub(super) error: Option<String>,
}

impl Ended {
    /// It was accepted.
    pub(super) fn sent(response: Option<Value>) -> Self {
        Self {
            outcome: Outcome::Sent,
            request: None,
            response,
            error: None,
        }
    }

    /// It cannot be sent.
    pub(super) fn failed(error: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Failed,
            error: Some(error.into()),
            ..Self::sent(None)
        }
    }

    /// It was not sent, and trying again may help.
    pub(super) fn again(error: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Again(None),
            ..Self::failed(error)
        }
    }

    /// The time for it was over.
    pub(super) fn late(timeout: Duration) -> Self {
        Self::again(NoAnswer::late(timeout).reason)
    }

    /// Nothing answered.
    pub(super) fn unanswered(no_answer: NoAnswer) -> Self {
        match no_answer.is_refused {
            true => Self::failed(no_answer.reason),
            false => Self::again(no_answer.reason),
        }
    }

    /// The same with the request that it was about.
    pub(super) fn with_request(&self, request: Value) -> Self {
        Self {
            request: Some(request),
            ..self.clone()
        }
    }
}

/// An attempt that has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    at_ms: EpochMs,
    /// Spreads the waits. Lines of one object have the same, so that they stay together.
    entropy: u32,
}

impl Attempt {
    pub(super) fn begin(core: &Core) -> Self {
        Self {
            at_ms: core.env.now_ms(),
            entropy: core.env.id(|_, bits| bits as u32),
        }
    }

    /// The record of its end.
    pub(super) fn end(self, core: &Core, send: &ClaimedSend, ended: Ended) -> SendAttempt {
        let now_ms = core.env.now_ms();
        let wait = match ended.outcome {
            Outcome::Again(retry_after) => wait(send, retry_after, self.entropy),
            Outcome::Sent | Outcome::Failed => None,
        };
        let state = match ended.outcome {
            Outcome::Sent => SendState::Sent,
            Outcome::Again(_) if wait.is_some() => SendState::Pending,
            Outcome::Again(_) | Outcome::Failed => SendState::Failed,
        };
        let due_at_ms = now_ms + wait.unwrap_or_default();
        let is_given_up = ended.outcome != Outcome::Failed && state == SendState::Failed;
        let mut result = Map::new();
        result.insert("attempt".to_owned(), json!(tries(send)));
        result.insert("at_ms".to_owned(), json!(self.at_ms));
        let latency_ms = now_ms.since(self.at_ms).as_millis();
        result.insert("latency_ms".to_owned(), json!(latency_ms as u64));
        let error = ended.error.map(|error| match is_given_up {
            true => format!("{error}; given up after {} attempts", tries(send)),
            false => error,
        });
        let parts = [
            ("request", ended.request),
            ("response", ended.response),
            ("error", error.map(Value::from)),
            ("retry_at_ms", wait.map(|_| json!(due_at_ms))),
        ];
        for (name, part) in parts {
            result.extend(part.map(|part| (name.to_owned(), part)));
        }
        SendAttempt {
            id: send.id.clone(),
            attempt: send.attempt,
            state,
            due_at_ms,
            result: shown::json_text(&Value::Object(result)),
            now_ms,
        }
    }
}

/// Gives a send back untried, to be claimed at that time.
pub(super) fn put_off(send: &ClaimedSend, due_at_ms: EpochMs, now_ms: EpochMs) -> SendAttempt {
    SendAttempt {
        id: send.id.clone(),
        attempt: send.attempt,
        state: SendState::Pending,
        due_at_ms,
        result: None,
        now_ms,
    }
}

/// The time until the next attempt; none after the last.
fn wait(send: &ClaimedSend, retry_after: Option<Duration>, entropy: u32) -> Option<Duration> {
    let waits = WAITS_S.map(Duration::from_secs).to_vec();
    let retry_after = retry_after.map(|after| after.min(RETRY_AFTER_MAX));
    Backoff::new(waits).wait(tries(send), retry_after, entropy)
}

/// The number of attempts so far. An object's line was claimed once more, before its minute was over.
fn tries(send: &ClaimedSend) -> u32 {
    match send.way {
        SendWay::S3 => send.attempt.saturating_sub(1).max(1),
        SendWay::Http | SendWay::Email => send.attempt,
    }
}
