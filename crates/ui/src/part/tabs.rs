//! The parts of a thing, each at an address of its own.

use maud::{Markup, html};

/// Links to the parts; the current one is marked.
pub(crate) fn tabs(label: &str, base: &str, tabs: &[(&str, &str)], current: &str) -> Markup {
    html! {
        nav.tabs aria-label=(label) {
            @for (path, name) in tabs {
                a href={ (base) "/" (path) } aria-current=[(*path == current).then_some("page")] { (name) }
            }
        }
    }
}
