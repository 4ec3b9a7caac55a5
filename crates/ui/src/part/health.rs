//! The health of an account's credentials.

use headwater_platform::HealthStatus;
use maud::Markup;

use super::state::{Tone, state};

/// The health as a state.
pub(crate) fn health(status: HealthStatus) -> Markup {
    match status {
        HealthStatus::Healthy => state(Tone::Good, "healthy"),
        HealthStatus::Unknown => state(Tone::Quiet, "not checked"),
        HealthStatus::Expired => state(Tone::Bad, "expired"),
        HealthStatus::Refused => state(Tone::Bad, "refused"),
    }
}
