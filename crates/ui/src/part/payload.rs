//! Payloads: values, headers and logs that a person can hide in their browser, for pictures and shared screens. They are
//! in the page nevertheless, and `data-masked` of its root decides which of the two is seen, found and read aloud.

use maud::{Markup, html};

/// A payload within a line.
pub(crate) fn inline(shown: Markup) -> Markup {
    html! { span.payload { (shown) } span.mask { "hidden" } }
}

/// A payload with lines of its own.
pub(crate) fn block(shown: Markup) -> Markup {
    html! { div.payload { (shown) } p.mask { "Hidden in this browser" } }
}
