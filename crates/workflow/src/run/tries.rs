//! The ends of executions that are not the end of their step: pauses that it asked for, and failures that are tried again.

use std::time::Duration;

use headwater_model::time::EpochMs;

use super::{
    end::FlowCall,
    failure::{Cause, Failure},
    place::{LOSSES_MAX, Place, PlaceStatus, Rerun, WaitKind},
};
use crate::definition::Retry;

/// Pauses a step at its end.
pub(super) fn pause(place: &mut Place, call: FlowCall, now_ms: EpochMs) {
    match call {
        FlowCall::Delay(span) => place.wait(WaitKind::Delay, Some(now_ms + span), now_ms),
        FlowCall::Suspend(span) => place.wait(WaitKind::Suspend, Some(now_ms + span), now_ms),
        FlowCall::Rerun {
            after,
            context,
            max_retries,
        } => {
            let runs = place.rerun.as_ref().map_or(1, |rerun| rerun.runs);
            if runs > max_retries {
                return place.end(PlaceStatus::Succeeded, now_ms);
            }
            place.rerun = Some(Rerun {
                runs,
                context,
                callback_request: None,
            });
            place.wait(WaitKind::Rerun, Some(now_ms + after), now_ms);
        }
    }
}

/// Counts a failed try: another one follows, or the place has failed.
pub(super) fn failed_try(
    place: &mut Place,
    failure: Failure,
    policy: Option<&Retry>,
    (chance, now_ms): (f64, EpochMs),
) {
    if failure.cause == Cause::WorkerLost && place.losses < LOSSES_MAX {
        place.losses += 1;
        return;
    }
    place.losses = 0;
    place.failed_tries += 1;
    let kind = failure.cause.kind();
    place.failure = Some(failure);
    let is_meant = |retry: &&Retry| {
        let is_on = kind.is_some_and(|kind| retry.on.contains(&kind));
        is_on && place.failed_tries < retry.attempts
    };
    match policy.filter(is_meant) {
        Some(retry) => {
            let pause = pause_before(retry, place.failed_tries, chance);
            place.wait(WaitKind::Retry, Some(now_ms + pause), now_ms);
        }
        None => place.end(PlaceStatus::Failed, now_ms),
    }
}

/// The pause before the next try: exponential, bounded, and with jitter between half of it and all of it.
fn pause_before(retry: &Retry, failed_tries: u32, chance: f64) -> Duration {
    let exponent = i32::try_from(failed_tries.saturating_sub(1)).unwrap_or(i32::MAX);
    let seconds = retry.initial.as_secs_f64() * retry.factor.powi(exponent);
    let bounded = seconds.min(retry.max.as_secs_f64());
    let spread = match retry.jitter {
        true => 0.5 + chance.clamp(0.0, 1.0) / 2.0,
        false => 1.0,
    };
    Duration::try_from_secs_f64(bounded * spread).unwrap_or(retry.max)
}
