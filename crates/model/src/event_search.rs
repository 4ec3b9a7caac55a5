//! Searching kept events: whether one has certain words, and certain values at certain places of its JSON.
//!
//! JSON is read as it streams by, so that no event is taken apart as a whole. Not responsible for which events are
//! looked at.

mod path;
mod value;

use std::{fmt, str::FromStr};

use crate::{
    error::Invalid,
    id::{EmitterId, EventId},
};

use self::path::PathValue;

/// Words of a search.
const WORDS_MAX: usize = 16;
/// Values at places of a search.
const PATHS_MAX: usize = 16;
/// Characters of the words, and of each path with its value.
const TEXT_CHARS_MAX: usize = 1_000;

/// The place of an event among those of all emitters: by its id, then by its emitter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPlace {
    /// The event's id.
    pub id: EventId,
    /// Its emitter.
    pub emitter: EmitterId,
}

impl fmt::Display for EventPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.id, self.emitter)
    }
}

/// Why a text is not the place of an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the place of an event: expected <event id>@<emitter>")]
pub struct InvalidEventPlace(String);

impl FromStr for EventPlace {
    type Err = InvalidEventPlace;

    fn from_str(text: &str) -> Result<Self, InvalidEventPlace> {
        let invalid = || InvalidEventPlace(text.to_owned());
        let (id, emitter) = text.split_once('@').ok_or_else(invalid)?;
        Ok(Self {
            id: id.parse().map_err(|_| invalid())?,
            emitter: emitter.parse().map_err(|_| invalid())?,
        })
    }
}

/// The conditions under which an event is found; all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventMatcher {
    words: Vec<Word>,
    paths: Vec<PathValue>,
}

impl EventMatcher {
    /// The matcher of `words`, separated by spaces, and of `paths` such as `user.tags[0]=new`.
    ///
    /// # Errors
    /// Names the parameter (`q` or `path`) that is too long or not a path with a value.
    pub fn new(words: &str, paths: &[String]) -> Result<Self, Invalid> {
        let found: Vec<Word> = words.split_whitespace().map(Word::new).collect();
        if found.len() > WORDS_MAX || words.chars().count() > TEXT_CHARS_MAX {
            let reason =
                format!("`q` may have at most {WORDS_MAX} words and {TEXT_CHARS_MAX} characters");
            return Err(Invalid::new("q", reason));
        }
        if paths.len() > PATHS_MAX {
            let reason = format!("`path` may be given at most {PATHS_MAX} times");
            return Err(Invalid::new("path", reason));
        }
        let paths = paths.iter().map(|path| {
            if path.chars().count() > TEXT_CHARS_MAX {
                let reason = format!("a `path` may have at most {TEXT_CHARS_MAX} characters");
                return Err(Invalid::new("path", reason));
            }
            PathValue::parse(path).map_err(|reason| Invalid::new("path", reason))
        });
        Ok(Self {
            words: found,
            paths: paths.collect::<Result<_, _>>()?,
        })
    }

    /// Whether every event is found.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.paths.is_empty()
    }

    /// Whether an event with this JSON text and summary is found. Words are looked for in both, in any case; in the text
    /// as it was emitted, where quotes and control characters are escaped.
    pub fn matches(&self, text: &str, summary: Option<&str>) -> bool {
        let mut lower = None;
        let has_word = |word: &Word| word.is_in(text, summary, &mut lower);
        self.words.iter().all(has_word) && self.paths.iter().all(|path| path.is_in(text))
    }
}

/// A word to look for.
#[derive(Debug, Clone, PartialEq)]
struct Word {
    /// In lower case.
    plain: String,
    /// The same as JSON has it within a string, if that differs.
    escaped: Option<String>,
}

impl Word {
    fn new(word: &str) -> Self {
        let plain = word.to_lowercase();
        let quoted = serde_json::Value::from(&*plain).to_string();
        let escaped = Some(quoted[1..quoted.len() - 1].to_owned());
        Self {
            escaped: escaped.filter(|escaped| *escaped != plain),
            plain,
        }
    }

    /// Whether it is in one of them. `lower` keeps the text in lower case for further words.
    fn is_in(&self, text: &str, summary: Option<&str>, lower: &mut Option<String>) -> bool {
        if summary.is_some_and(|summary| summary.to_lowercase().contains(&self.plain)) {
            return true;
        }
        let forms = std::iter::once(&self.plain).chain(&self.escaped);
        if self.plain.is_ascii() {
            return forms.into_iter().any(|form| contains_ascii(text, form));
        }
        let lower = lower.get_or_insert_with(|| text.to_lowercase());
        forms.into_iter().any(|form| lower.contains(&**form))
    }
}

/// Whether the text has this word of ASCII letters in lower case, in whatever case.
fn contains_ascii(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let Some(first) = word.first() else {
        return true;
    };
    let beginnings = text.iter().enumerate();
    let mut beginnings = beginnings.filter(|(_, byte)| byte.to_ascii_lowercase() == *first);
    beginnings.any(|(at, _)| {
        text.get(at..at + word.len())
            .is_some_and(|part| part.eq_ignore_ascii_case(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(words: &str, paths: &[&str], text: &str, summary: Option<&str>) -> bool {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let matcher = EventMatcher::new(words, &paths).unwrap();
        matcher.matches(text, summary)
    }

    #[test]
    fn all_words_are_found_in_text_or_summary_in_any_case() {
        let text = r#"{"name":"Ärger \"Ltd\"","n":17,"path":"C:\\a"}"#;
        for (words, is_found) in [
            ("", true),
            ("name", true),
            ("NAME 17", true),
            ("ärger", true),
            ("ÄRGER name", true),
            ("paid", true),
            ("paid name", true),
            ("unpaid", false),
            ("name 18", false),
            ("\"Ltd\"", true),
            (r"c:\a", true),
            ("\"n\":17", true),
        ] {
            let found = finds(words, &[], text, Some("Order PAID"));
            assert_eq!(found, is_found, "{words}");
        }
        assert!(!finds("paid", &[], text, None));
    }

    #[test]
    fn words_and_paths_have_to_match_together() {
        let text = r#"{"a":{"b":1},"c":"x"}"#;
        assert!(finds("x", &["a.b=1", "c=x"], text, None));
        assert!(!finds("x", &["a.b=1", "c=y"], text, None));
        assert!(!finds("y", &["a.b=1"], text, None));
        assert!(EventMatcher::new(" ", &[]).unwrap().is_empty());
    }

    #[test]
    fn a_search_is_bounded_and_names_what_is_wrong() {
        for (words, paths, field) in [
            ("w ".repeat(WORDS_MAX + 1), vec![], "q"),
            ("w".repeat(TEXT_CHARS_MAX + 1), vec![], "q"),
            (String::new(), vec!["a=1".to_owned(); PATHS_MAX + 1], "path"),
            (
                String::new(),
                vec!["a".repeat(TEXT_CHARS_MAX) + "=1"],
                "path",
            ),
            (String::new(), vec!["a".to_owned()], "path"),
        ] {
            let error = EventMatcher::new(&words, &paths).unwrap_err();
            assert_eq!(error.field, field);
        }
    }

    #[test]
    fn a_place_reads_back() {
        let place = "17-3@dc_0DkqLtSyJ4yOMpWg5tVxNq";
        assert_eq!(place.parse::<EventPlace>().unwrap().to_string(), place);
        for wrong in ["17-3", "17-3@", "@dc_0DkqLtSyJ4yOMpWg5tVxNq", "17-3@u_1"] {
            assert!(wrong.parse::<EventPlace>().is_err(), "{wrong}");
        }
    }
}
