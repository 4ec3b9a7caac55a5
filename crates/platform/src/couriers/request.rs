//! The request of one attempt: its content and its signature.
//!
//! Responsible for headers and body. Not for sending, or for the meaning of an answer.

use bytes::Bytes;
use headwater_model::{
    channel::Channel,
    id::{EmitterId, EventId, SubscriptionId},
    time::EpochMs,
    trace::TraceParent,
};
use headwater_store::{ClaimedDelivery, DeliveredEvent};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::signature::{Signer, signatures};
use crate::outbound::{USER_AGENT, visible_ascii};

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const EMITTER_ID: HeaderName = HeaderName::from_static("x-headwater-emitter-id");
const EVENT_ID: HeaderName = HeaderName::from_static("x-headwater-event-id");
const CHANNEL: HeaderName = HeaderName::from_static("x-headwater-channel");
const TEST: HeaderName = HeaderName::from_static("x-headwater-test");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Headers and body of an attempt.
pub struct WebhookRequest {
    /// The signed headers, and those that name the event.
    pub headers: HeaderMap,
    /// The event.
    pub body: Bytes,
}

/// An event that a follower posts by itself.
pub struct ForwardedEvent<'a> {
    /// The source or workflow that emitted it.
    pub emitter: &'a EmitterId,
    /// Its id.
    pub id: EventId,
    /// Its channel.
    pub channel: &'a Channel,
    /// Its JSON.
    pub body: Bytes,
}

impl WebhookRequest {
    /// The request of an attempt that begins now.
    pub(super) fn new<'a>(
        delivery: &ClaimedDelivery,
        signers: impl IntoIterator<Item = &'a Signer>,
        now_ms: EpochMs,
    ) -> Self {
        let event = &delivery.event;
        let body = Bytes::copy_from_slice(event.event.get().as_bytes());
        let id = webhook_id(event, &delivery.subscription_id);
        let about = origin(&event.emitter, event.id, &event.channel);
        Self::signed(id, body, about, signers, now_ms)
    }

    /// The request of an event that a follower posts by itself, as a webhook would get it.
    pub fn of_forwarded(event: ForwardedEvent<'_>, signer: &Signer, now_ms: EpochMs) -> Self {
        // Not the id of any delivery: a receiver may get both.
        let id = format!("{}_{}_forwarded", event.emitter, event.id);
        let about = origin(event.emitter, event.id, event.channel);
        Self::signed(id, event.body, about, [signer], now_ms)
    }

    /// The request of an event that is posted to an address without a webhook: nobody has a secret to sign it with.
    pub fn unsigned(event: ForwardedEvent<'_>, now_ms: EpochMs) -> Self {
        let id = format!("{}_{}_once", event.emitter, event.id);
        let about = origin(event.emitter, event.id, event.channel);
        let mut request = Self::signed(id, event.body, about, [], now_ms);
        request.headers.remove(SIGNATURE);
        request
    }

    /// The request of a sample, which says so in a header.
    pub(super) fn of_sample<'a>(
        id: String,
        body: Bytes,
        signers: impl IntoIterator<Item = &'a Signer>,
        now_ms: EpochMs,
    ) -> Self {
        let about = [(TEST, Some("true".to_owned()))];
        Self::signed(id, body, about, signers, now_ms)
    }

    fn signed<'a>(
        id: String,
        body: Bytes,
        about: impl IntoIterator<Item = (HeaderName, Option<String>)>,
        signers: impl IntoIterator<Item = &'a Signer>,
        now_ms: EpochMs,
    ) -> Self {
        let timestamp = now_ms.to_seconds();
        let signature = signatures(signers, &id, timestamp, &body);
        let mut headers = HeaderMap::from_iter([
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            ),
            (header::USER_AGENT, HeaderValue::from_static(USER_AGENT)),
            (TIMESTAMP, HeaderValue::from(timestamp.0)),
        ]);
        let texts = [(ID, Some(id)), (SIGNATURE, Some(signature))];
        for (name, text) in texts.into_iter().chain(about) {
            // Ids, base64 and percent-encoded text consist of visible ASCII.
            if let Some(value) = text.and_then(|text| HeaderValue::try_from(text).ok()) {
                headers.insert(name, value);
            }
        }
        Self { headers, body }
    }

    /// Names the receiver's place in a trace.
    pub(super) fn trace(&mut self, parent: Option<TraceParent>) {
        let header = parent.and_then(|parent| HeaderValue::try_from(parent.to_string()).ok());
        if let Some(header) = header {
            self.headers.insert(TRACEPARENT, header);
        }
    }
}

/// The headers that name an event.
fn origin(
    emitter: &EmitterId,
    id: EventId,
    channel: &Channel,
) -> [(HeaderName, Option<String>); 3] {
    [
        (EMITTER_ID, Some(emitter.to_string())),
        (EVENT_ID, Some(id.to_string())),
        (CHANNEL, channel_header(channel)),
    ]
}

/// The same for every attempt of a delivery, another for every other one: receivers may drop those that
/// they have seen.
fn webhook_id(event: &DeliveredEvent, subscription_id: &SubscriptionId) -> String {
    format!("{}_{}_{subscription_id}", event.emitter, event.id)
}

/// The channel's name, fit for a header; nothing for the default channel.
fn channel_header(channel: &Channel) -> Option<String> {
    let encoded = visible_ascii(channel.name());
    (!encoded.is_empty()).then_some(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_default_channel_has_no_header() {
        for (name, header) in [("", None), ("new orders", Some("new%20orders"))] {
            let encoded = channel_header(&Channel::named(name));
            assert_eq!(encoded.as_deref(), header);
        }
    }
}
