//! The state of a delivery and the result of an attempt, in words.

use std::time::Duration;

use headwater_model::webhook::DeliveryState;
use headwater_platform::Attempt;
use maud::{Markup, html};

use super::{
    state::{Tone, state},
    text, time,
};

/// Where a delivery is in its life.
pub(crate) fn delivery_state(of: DeliveryState) -> Markup {
    match of {
        DeliveryState::Pending => state(Tone::Busy, "pending"),
        DeliveryState::Delivered => state(Tone::Good, "delivered"),
        DeliveryState::Dead => state(Tone::Bad, "dead"),
        DeliveryState::Discarded => state(Tone::Quiet, "discarded"),
    }
}

/// The result of an attempt, in a line.
pub(crate) fn answer(attempt: &Attempt) -> Markup {
    html! {
        @match (attempt.status, &attempt.error) {
            (Some(status), _) => { (status) @if let Some(words) = words_of(status) { " " (words) } }
            (None, Some(error)) => { (text::line(error)) }
            (None, None) => { "no answer" }
        }
        " in " (time::took(Duration::from_millis(attempt.latency_ms)))
    }
}

/// The standard's words for a status.
fn words_of(status: u16) -> Option<&'static str> {
    axum::http::StatusCode::from_u16(status)
        .ok()?
        .canonical_reason()
}
