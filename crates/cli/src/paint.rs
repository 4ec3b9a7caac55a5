//! Words in the colour of their meaning. The colours are those of the terminal's own palette, which its owner can read.

use std::borrow::Cow;

use comfy_table::Color;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Asks for something.
    Bad,
    /// In between, or switched off.
    Between,
    /// As it should be.
    Well,
    /// A next step.
    Advice,
    /// The name of what follows.
    Heading,
}

impl Meaning {
    /// Of a word that tells a state.
    pub(crate) fn of_state(text: &str) -> Option<Self> {
        let word = text.split([' ', ',']).next().unwrap_or_default();
        Some(match word {
            "failed" | "threw" | "dead" | "lost" | "refused" | "expired" | "wall_limit"
            | "memory_limit" | "output_limit" | "error" => Self::Bad,
            "no" | "paused" | "pending" | "waiting" | "discarded" | "cancelled" | "warning"
            | "unknown" => Self::Between,
            "yes" | "ok" | "returned" | "succeeded" | "delivered" | "healthy" => Self::Well,
            _ => return None,
        })
    }

    /// Of the level of a line of a log.
    pub(crate) fn of_level(level: &str) -> Option<Self> {
        match level.trim_end() {
            "error" => Some(Self::Bad),
            "warn" => Some(Self::Between),
            _ => None,
        }
    }

    /// Of the word that a note begins with.
    fn of_note(word: &str) -> Option<Self> {
        match word {
            "error" => Some(Self::Bad),
            "warning" => Some(Self::Between),
            "hint" | "note" => Some(Self::Advice),
            _ => None,
        }
    }

    /// The colour in a table; a heading has none.
    pub(crate) fn colour(self) -> Option<Color> {
        match self {
            Self::Bad => Some(Color::DarkRed),
            Self::Between => Some(Color::DarkYellow),
            Self::Well => Some(Color::DarkGreen),
            Self::Advice => Some(Color::DarkCyan),
            Self::Heading => None,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Bad => "31",
            Self::Between => "33",
            Self::Well => "32",
            Self::Advice => "36",
            Self::Heading => "1",
        }
    }
}

/// The text with its meaning, where colours are wanted and it has one.
pub(crate) fn painted(text: &str, meaning: Option<Meaning>, has_colour: bool) -> Cow<'_, str> {
    match meaning.filter(|_| has_colour) {
        Some(meaning) => format!("\u{1b}[{}m{text}\u{1b}[0m", meaning.code()).into(),
        None => text.into(),
    }
}

/// A note that begins with `error:`, `hint:` or another such word.
pub(crate) fn note(text: &str, has_colour: bool) -> Cow<'_, str> {
    let Some((word, rest)) = text.split_once(": ").filter(|_| has_colour) else {
        return text.into();
    };
    match Meaning::of_note(word) {
        None => text.into(),
        meaning => {
            let word = format!("{word}:");
            format!("{} {rest}", painted(&word, meaning, has_colour)).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_painted_by_its_first_word() {
        assert_eq!(
            note("error: no: way", true),
            "\u{1b}[31merror:\u{1b}[0m no: way"
        );
        assert_eq!(
            note("hint: log in", true),
            "\u{1b}[36mhint:\u{1b}[0m log in"
        );
        for (text, has_colour) in [
            ("error: no", false),
            ("errors: no", true),
            ("deleted", true),
        ] {
            assert_eq!(note(text, has_colour), text);
        }
    }

    #[test]
    fn a_word_without_a_meaning_stays_as_it_is() {
        assert_eq!(painted("x", Meaning::of_state("former"), true), "x");
        assert_eq!(painted("x", Meaning::of_level("info "), true), "x");
        let bad = Meaning::of_state("threw, 3 s ago");
        assert_eq!(painted("x", bad, true), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(painted("x", bad, false), "x");
    }
}
