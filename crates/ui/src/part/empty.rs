//! Lists without rows: why there are none, and what to do.

use maud::{Markup, html};

/// The reason, and the next step.
pub(crate) fn empty(reason: &str, next: Markup) -> Markup {
    html! {
        section.empty {
            p.reason { (reason) }
            (next)
        }
    }
}
