//! Lists of sources and of workflows that are reduced by name and state: the parameters `q` and `state` of their
//! addresses, and the form that sets them.

use headwater_platform::{Standing, Wanted};
use maud::{Markup, html};

use crate::{
    part::{
        empty::empty,
        icon::{Icon, icon},
    },
    visit::Visitor,
};

const STATES: [(&str, &str, Standing); 3] = [
    ("active", "Active", Standing::Active),
    ("paused", "Paused", Standing::Paused),
    ("failing", "Failing", Standing::Failing),
];

/// The part of the list that the address asks for. A state that there is not counts as none.
pub(crate) fn wanted(visitor: &Visitor) -> Wanted {
    let words = visitor.parameter("q").unwrap_or_default();
    let state = visitor.parameter("state").unwrap_or_default();
    let standing = STATES.iter().find(|(value, _, _)| *value == state);
    Wanted {
        words: words.split_whitespace().map(str::to_owned).collect(),
        standing: standing.map(|(_, _, standing)| *standing),
    }
}

/// The form; `path` is that of the list.
pub(crate) fn form(visitor: &Visitor, wanted: &Wanted, path: &str) -> Markup {
    let value_of = |standing: Standing| {
        let state = STATES.iter().find(|(_, _, state)| *state == standing);
        state.map(|(value, _, _)| *value)
    };
    html! {
        ul.chips aria-label="States" {
            li { a href=(visitor.with(&[("state", None)])) aria-current=[wanted.standing.is_none().then_some("true")] { "All" } }
            @for (value, label, standing) in STATES {
                li {
                    a href=(visitor.with(&[("state", Some(value))]))
                        aria-current=[(wanted.standing == Some(standing)).then_some("true")] { (label) }
                }
            }
        }
        form.filters action=(path) {
            @if let Some(id) = &visitor.workspace { input type="hidden" name="workspace" value=(id); }
            @if let Some(value) = wanted.standing.and_then(value_of) { input type="hidden" name="state" value=(value); }
            div { label for="name" { "Name " } input #name type="search" name="q" value=(wanted.words.join(" ")) autocomplete="off"; }
            button { (icon(Icon::Search)) "Filter" }
        }
    }
}

/// The text for a list of which nothing is left; `things` are in the plural.
pub(crate) fn none_left(path: &str, things: &str) -> Markup {
    empty(
        &format!("None of the {things} is like this."),
        html! { p { a href=(path) { "Show all " (things) } } },
    )
}
