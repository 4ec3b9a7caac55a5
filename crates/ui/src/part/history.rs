//! The way to the acts on a thing.

use maud::{Markup, html};

/// The button that leads to the audit records of the thing with this id.
pub(crate) fn history(id: &str) -> Markup {
    html! { a.button href={ "/settings/audit?target=" (id) } { "History" } }
}
