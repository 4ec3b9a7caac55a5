//! Lists of sources and of workflows that are reduced by name and state: the parameters `q` and `state` of their
//! addresses, and the form that sets them.

use headwater_platform::{SourceTrigger, Standing, Wanted};
use maud::{Markup, html};

use crate::{
    part::{
        empty::empty,
        icon::{Icon, icon},
    },
    visit::Visitor,
};

const STATES: [(&str, &str, Standing); 4] = [
    ("active", "Active", Standing::Active),
    ("paused", "Paused", Standing::Paused),
    ("failing", "Failing", Standing::Failing),
    ("ok", "Ok", Standing::Ok),
];

const TRIGGERS: [(&str, &str, SourceTrigger); 3] = [
    ("timer", "a timer", SourceTrigger::Timer),
    ("http", "requests", SourceTrigger::Http),
    ("neither", "neither", SourceTrigger::Neither),
];

/// The part of the list that the address asks for. A state that there is not counts as none.
pub(crate) fn wanted(visitor: &Visitor) -> Wanted {
    let words = visitor.parameter("q").unwrap_or_default();
    let state = visitor.parameter("state").unwrap_or_default();
    let standing = STATES.iter().find(|(value, _, _)| *value == state);
    Wanted {
        words: words.split_whitespace().map(str::to_owned).collect(),
        standing: standing.map(|(_, _, standing)| *standing),
        ..Wanted::default()
    }
}

/// The part of the list of sources that the address asks for, by their triggers and components, too.
pub(crate) fn wanted_sources(visitor: &Visitor) -> Wanted {
    let trigger = visitor.parameter("trigger").unwrap_or_default();
    let trigger = TRIGGERS.iter().find(|(value, _, _)| *value == trigger);
    Wanted {
        trigger: trigger.map(|(_, _, trigger)| *trigger),
        app: visitor.parameter("app"),
        component: visitor.parameter("component"),
        ..wanted(visitor)
    }
}

/// The fields of the form that only sources have.
pub(crate) fn of_sources(wanted: &Wanted) -> Markup {
    html! {
        div {
            label for="trigger" { "Runs on " }
            select #trigger name="trigger" {
                option value="" { "anything" }
                @for (value, label, trigger) in TRIGGERS { option value=(value) selected[wanted.trigger == Some(trigger)] { (label) } }
            }
        }
        div { label for="app" { "App " } input #app name="app" value=(wanted.app.as_deref().unwrap_or_default()) size="12" autocomplete="off" spellcheck="false"; }
        div { label for="component" { "Component " } input #component name="component" value=(wanted.component.as_deref().unwrap_or_default()) size="18" placeholder="its key" autocomplete="off" spellcheck="false"; }
    }
}

/// The form; `path` is that of the list, `further` are fields of its own.
pub(crate) fn form(visitor: &Visitor, wanted: &Wanted, path: &str, further: &Markup) -> Markup {
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
            (further)
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
