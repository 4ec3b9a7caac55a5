//! The question before something is done that cannot be undone.

use maud::{Markup, html};

use super::text;

/// A page that asks once more.
pub(crate) struct Question<'a> {
    pub(crate) title: &'a str,
    /// The things that go with it.
    pub(crate) consequences: Markup,
    /// The address that does it.
    pub(crate) action: &'a str,
    /// Fields that are sent along.
    pub(crate) fields: &'a [(&'a str, &'a str)],
    pub(crate) button: &'a str,
    /// The way back.
    pub(crate) back: &'a str,
}

/// The question as a form.
pub(crate) fn confirm(question: &Question<'_>) -> Markup {
    asked(question, None)
}

/// The question before something that may take a while, of which the button tells then.
pub(crate) fn confirm_busy(question: &Question<'_>, busy: &str) -> Markup {
    asked(question, Some(busy))
}

fn asked(question: &Question<'_>, busy: Option<&str>) -> Markup {
    html! {
        section.confirm {
            h1 { (text::value(question.title)) }
            (question.consequences)
            form.actions method="post" action=(question.action) data-busy=[busy] {
                @for (name, value) in question.fields { input type="hidden" name=(name) value=(value); }
                button.danger { (question.button) }
                a.button.quiet href=(question.back) { "Go back" }
            }
        }
    }
}
