//! The ways from one page of a list to the next, and how much there is.

use maud::{Markup, html};

use super::{
    icon::{Icon, icon},
    text::grouped,
};
use crate::{query::ROWS, visit::Visit};

/// The ends of a shown page.
pub(crate) struct Ends<'a> {
    /// The cursors of its first and its last row, if it has any.
    pub(crate) first: Option<&'a str>,
    pub(crate) last: Option<&'a str>,
    pub(crate) rows: usize,
    /// All of the filter, not only those of this page.
    pub(crate) total_count: u64,
}

/// Links to the pages around this one.
pub(crate) fn pager(visit: &Visit, ends: &Ends<'_>) -> Markup {
    let is_inside = visit.parameter("after").is_some() || visit.parameter("before").is_some();
    let is_full = ends.rows >= ROWS as usize;
    // A page that was reached backwards has the page before it if it is full.
    let has_previous = match visit.parameter("before") {
        Some(_) => is_full,
        None => is_inside,
    };
    let has_next = is_full || visit.parameter("before").is_some();
    html! {
        nav.pager aria-label="Pages" {
            span { (grouped(ends.total_count)) " in all" }
            @if is_inside { a href=(visit.with(&[])) { "First page" } }
            @if has_previous && let Some(first) = ends.first {
                a rel="prev" href=(visit.with(&[("before", Some(first))])) { (icon(Icon::Previous)) "Previous" }
            }
            @if has_next && let Some(last) = ends.last && (ends.rows as u64) < ends.total_count {
                a rel="next" href=(visit.with(&[("after", Some(last))])) { "Next" (icon(Icon::Next)) }
            }
        }
    }
}
