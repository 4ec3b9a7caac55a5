//! The name of a thing that a list mentions: a link to it, or its id if the name is not known.

use headwater_model::id::{EmitterId, ListenerId};
use headwater_platform::KnownNames;
use maud::{Markup, html};

use crate::{address::Address as _, part::text};

/// An emitter as a link to its page.
pub(crate) fn emitter(names: &KnownNames, id: &EmitterId) -> Markup {
    html! { a href=(id.address()) { (named(names.of_emitter(id), id.as_str())) } }
}

/// A listener as a link to its page.
pub(crate) fn listener(names: &KnownNames, id: &ListenerId) -> Markup {
    html! { a href=(id.address()) { (named(names.of(id), id.as_str())) } }
}

/// A name, or else the id. A thing that is gone has no name any more.
pub(crate) fn named(name: Option<&str>, id: &str) -> Markup {
    html! {
        @match name.filter(|name| !name.trim().is_empty()) {
            Some(name) => (text::line(name)),
            None => code { (id) },
        }
    }
}
