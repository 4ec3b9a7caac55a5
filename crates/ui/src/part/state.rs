//! States, each as an icon, a word and a colour, so that none of the three is needed to tell them apart.

use maud::{Markup, html};

use super::icon::{Icon, icon};

/// The mood of a state, by which it has its colour and its icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Warning,
    Quiet,
    Busy,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warning => "warning",
            Self::Quiet => "quiet",
            Self::Busy => "busy",
        }
    }

    fn icon(self) -> Icon {
        match self {
            Self::Good => Icon::Ok,
            Self::Bad => Icon::Failed,
            Self::Warning => Icon::Warning,
            Self::Quiet => Icon::Paused,
            Self::Busy => Icon::Clock,
        }
    }
}

/// A state and its word.
pub(crate) fn state(tone: Tone, word: &str) -> Markup {
    html! { span class={ "state " (tone.class()) } { (icon(tone.icon())) (word) } }
}
