//! The things that a search finds, as its page and the palette list them.

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::part::text;

/// The way to something that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A page opens.
    Opens,
    /// A form with this field is sent: it acts.
    Sends((&'static str, &'static str)),
}

/// Something that was found.
pub(super) struct Found {
    /// The word for things like it.
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) address: String,
    pub(super) way: Way,
}

impl Found {
    /// Something with a page.
    pub(super) fn new(
        kind: &'static str,
        name: impl Into<String>,
        address: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            name: name.into(),
            address: address.into(),
            way: Way::Opens,
        }
    }

    /// The link to it, or the button that acts.
    pub(super) fn markup(&self) -> Markup {
        html! {
            @match self.way {
                Way::Opens => { a href=(self.address) { (text::line(&self.name)) } }
                Way::Sends((name, value)) => {
                    form method="post" action=(self.address) { button name=(name) value=(value) { (text::line(&self.name)) } }
                }
            }
        }
    }

    /// The same for the palette.
    pub(super) fn json(&self) -> Value {
        let sends = match self.way {
            Way::Opens => None,
            Way::Sends(field) => Some(field),
        };
        json!({
            "name": text::visible(&self.name),
            "kind": self.kind,
            "address": self.address,
            "sends": sends,
        })
    }
}
