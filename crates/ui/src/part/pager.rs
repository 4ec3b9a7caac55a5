//! The ways from one page of a list to the next, and how much there is.

use headwater_model::page::Page;
use maud::{Markup, html};

use super::{
    icon::{Icon, icon},
    text::grouped,
};
use crate::{query::ROWS, visit::Visit};

/// The ends of a shown page.
pub(crate) struct Ends {
    /// The cursors of its first and its last row, if it has any.
    first: Option<String>,
    last: Option<String>,
    rows: usize,
    /// All of the filter, not only those of this page.
    total_count: u64,
}

impl Ends {
    /// The ends of a page whose rows have these cursors.
    pub(crate) fn of<'a, T, C: ToString>(page: &'a Page<T>, cursor: impl Fn(&'a T) -> C) -> Self {
        Self {
            first: page.items.first().map(|item| cursor(item).to_string()),
            last: page.items.last().map(|item| cursor(item).to_string()),
            rows: page.items.len(),
            total_count: page.total_count,
        }
    }
}

/// Links to the pages around this one.
pub(crate) fn pager(visit: &Visit, ends: &Ends) -> Markup {
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
            span data-in-all=(ends.total_count) { (grouped(ends.total_count)) " in all" }
            @if is_inside { a href=(visit.with(&[])) { "First page" } }
            @if has_previous && let Some(first) = &ends.first {
                a rel="prev" href=(visit.with(&[("before", Some(first))])) { (icon(Icon::Previous)) "Previous" }
            }
            @if has_next && let Some(last) = &ends.last && (ends.rows as u64) < ends.total_count {
                a rel="next" href=(visit.with(&[("after", Some(last))])) { "Next" (icon(Icon::Next)) }
            }
        }
    }
}
