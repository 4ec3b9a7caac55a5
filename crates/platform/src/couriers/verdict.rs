//! The consequences of an attempt's answer: for its delivery, and for the webhook.

use headwater_model::{
    channel::Channel,
    event::NewEvent,
    id::CellId,
    time::EpochMs,
    webhook::{Backoff, is_given_up},
};
use headwater_store::{AfterAttempt, ClaimedDelivery, DisabledWebhook, Webhook};
use serde_json::json;

use super::sender::Answer;
use crate::platform_event::{iso_8601, platform_event};

/// The status by which a receiver says that it wants no more.
const GONE: u16 = 410;

/// The reason why the platform deactivates a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// The receiver said so.
    Gone,
    /// It has failed for too long.
    Failing,
}

/// The consequences of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) after: AfterAttempt,
    pub(super) given_up: Option<GivenUp>,
}

impl Verdict {
    pub(super) fn is_delivered(&self) -> bool {
        self.after == AfterAttempt::Delivered
    }
}

/// An attempt that has ended, as far as it is judged.
pub(super) struct Ended<'a> {
    pub(super) answer: &'a Answer,
    /// Counted from 1.
    pub(super) attempt: u32,
    /// Since when all attempts at the webhook before this one have failed.
    pub(super) failing_since_ms: Option<EpochMs>,
    pub(super) now_ms: EpochMs,
    pub(super) entropy: u32,
}

/// Judges an attempt.
pub(super) fn verdict(backoff: &Backoff, ended: &Ended<'_>) -> Verdict {
    let answer = ended.answer;
    if answer
        .status
        .is_some_and(|status| (200..300).contains(&status))
    {
        return Verdict {
            after: AfterAttempt::Delivered,
            given_up: None,
        };
    }
    let given_up = if answer.status == Some(GONE) {
        Some(GivenUp::Gone)
    } else {
        is_given_up(ended.failing_since_ms, ended.now_ms).then_some(GivenUp::Failing)
    };
    // Deliveries that wait for a webhook that is given up are dead as soon as that is recorded, this
    // one too.
    let wait = backoff.wait(ended.attempt, answer.retry_after, ended.entropy);
    let after = wait.map_or(AfterAttempt::Dead, |wait| {
        AfterAttempt::RetryAt(ended.now_ms + wait)
    });
    Verdict { after, given_up }
}

/// The record and the message about a webhook that is given up after this delivery.
pub(super) fn disabled(
    webhook: &Webhook,
    delivery: &ClaimedDelivery,
    given_up: GivenUp,
    now_ms: EpochMs,
) -> DisabledWebhook {
    let reason = match given_up {
        GivenUp::Gone => "the receiver answered 410 Gone",
        GivenUp::Failing => "every attempt of the last five days failed",
    };
    DisabledWebhook {
        url: webhook.url.clone(),
        reason: reason.to_owned(),
        emitter: delivery.event.emitter.clone(),
        event: disabled_event(webhook, delivery, reason, now_ms),
    }
}

/// The event on `$errors`, in the shape of a workflow error summary. Without the webhook's URL: members
/// of the emitter's workspace may read the event, and such a URL can be a secret.
fn disabled_event(
    webhook: &Webhook,
    delivery: &ClaimedDelivery,
    reason: &str,
    now_ms: EpochMs,
) -> NewEvent {
    let id = &webhook.id;
    let message = format!(
        "webhook {id} was disabled because {reason}; its pending deliveries are kept as dead letters. \
         Activate it again with `headwater webhooks activate {id}`"
    );
    let event = &delivery.event;
    let owner = &webhook.owner;
    let told = json!({
        "error": {
            "code": "webhook_disabled",
            "name": "WebhookDisabledError",
            "message": message,
            "stack": null,
            "ts": iso_8601(now_ms),
            "cellId": CellId::of_webhook(id),
        },
        "original_event": event.event,
        "original_context": {
            "id": event.id,
            "ts": iso_8601(event.id.ms),
            "emitter_id": event.emitter,
            "event_name": event.channel,
            "webhook_id": id,
            "subscription_id": delivery.subscription_id,
            "owner_id": owner.tenant(),
            "platform_version": env!("CARGO_PKG_VERSION"),
        },
    });
    platform_event(Channel::errors(), &told, &message, 0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);
    const NOW: EpochMs = EpochMs(1_700_000_000_000);

    fn answered(status: u16) -> Answer {
        Answer {
            status: Some(status),
            ..Answer::default()
        }
    }

    fn judged(answer: &Answer, attempt: u32, failing_since_ms: Option<EpochMs>) -> Verdict {
        verdict(
            &Backoff::default(),
            &Ended {
                answer,
                attempt,
                failing_since_ms,
                now_ms: NOW,
                entropy: 0,
            },
        )
    }

    #[test]
    fn only_2xx_is_delivered() {
        let retried = AfterAttempt::RetryAt(NOW + Duration::from_secs(5));
        for (status, after) in [
            (200, AfterAttempt::Delivered),
            (204, AfterAttempt::Delivered),
            (299, AfterAttempt::Delivered),
            (101, retried),
            (301, retried),
            (307, retried),
            (400, retried),
            (404, retried),
            (500, retried),
            (599, retried),
        ] {
            let verdict = judged(&answered(status), 1, None);
            assert_eq!((verdict.after, verdict.given_up), (after, None), "{status}");
        }
        assert_eq!(judged(&Answer::default(), 1, None).after, retried);
    }

    #[test]
    fn after_the_last_wait_the_delivery_is_dead_and_the_webhook_goes_on() {
        let verdict = judged(&answered(500), 8, Some(NOW.minus(DAY)));
        let expected = Verdict {
            after: AfterAttempt::Dead,
            given_up: None,
        };
        assert_eq!(verdict, expected);
        let before = judged(&answered(500), 7, Some(NOW.minus(DAY)));
        assert_eq!(
            before.after,
            AfterAttempt::RetryAt(NOW + Duration::from_hours(10))
        );
    }

    #[test]
    fn a_longer_retry_after_counts() {
        let answer = Answer {
            retry_after: Some(Duration::from_secs(60)),
            ..answered(503)
        };
        let verdict = judged(&answer, 1, None);
        assert_eq!(
            verdict.after,
            AfterAttempt::RetryAt(NOW + Duration::from_mins(1))
        );
    }

    #[test]
    fn a_webhook_is_given_up_at_410_and_after_five_days_of_failure() {
        for (status, failing_since_ms, given_up) in [
            (410, None, Some(GivenUp::Gone)),
            (500, Some(NOW.minus(5 * DAY)), Some(GivenUp::Failing)),
            (
                500,
                Some(NOW.minus(5 * DAY) + Duration::from_millis(1)),
                None,
            ),
            (200, Some(NOW.minus(9 * DAY)), None),
        ] {
            let verdict = judged(&answered(status), 1, failing_since_ms);
            assert_eq!(verdict.given_up, given_up, "{status}");
            assert_ne!(verdict.after, AfterAttempt::Dead, "{status}");
        }
    }
}
