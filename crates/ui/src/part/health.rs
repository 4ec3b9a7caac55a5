//! The health of an account's credentials.

use headwater_platform::HealthStatus;
use maud::{Markup, html};

use super::{
    icon::{Icon, icon},
    state::{Tone, state},
};

/// The health as a state.
pub(crate) fn health(status: HealthStatus) -> Markup {
    let tone = match status {
        HealthStatus::Healthy => Tone::Good,
        // Nothing is at rest there: the node knows nothing of it.
        HealthStatus::Unknown => {
            return html! { span.state.quiet { (icon(Icon::Open)) (word(status)) } };
        }
        HealthStatus::Expired | HealthStatus::Refused => Tone::Bad,
    };
    state(tone, word(status))
}

/// The state of credentials that were not checked, but that a run succeeded with.
pub(crate) fn in_use() -> Markup {
    state(Tone::Good, "in use")
}

/// The health in words.
pub(crate) fn word(status: HealthStatus) -> &'static str {
    match status {
        HealthStatus::Healthy => "healthy",
        HealthStatus::Unknown => "not checked",
        HealthStatus::Expired => "expired",
        HealthStatus::Refused => "refused",
    }
}

/// The reason why credentials were not checked.
pub(crate) fn not_yet(can_be_checked: bool) -> &'static str {
    match can_be_checked {
        true => "the app was not asked yet",
        false => "the node has no test for this app",
    }
}
