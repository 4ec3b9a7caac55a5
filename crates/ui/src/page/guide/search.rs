//! Words found in the guide: the sections that have all of them.

use std::sync::LazyLock;

use pulldown_cmark::{Event, Tag};

use super::{
    book::{self, Chapter},
    text,
};

/// Places that are shown.
const SHOWN: usize = 30;
/// Letters of a section around the first word.
const AROUND: usize = 80;

/// A section with the words.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    path: String,
    anchor: String,
    pub(super) chapter: &'static str,
    /// Empty above the first heading.
    pub(super) heading: String,
    pub(super) excerpt: String,
}

impl Place {
    /// Its address.
    pub(super) fn address(&self) -> String {
        match self.anchor.as_str() {
            "" => self.path.clone(),
            anchor => format!("{}#{anchor}", self.path),
        }
    }
}

/// The sections that have all of the words, in any case: those with one of them in their heading first.
pub(super) fn places(words: &str) -> Vec<Place> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let has_all = |section: &&Section| {
        let mut words = words.iter();
        words.all(|word| section.lower.contains(word.as_str()))
    };
    let is_named = |section: &Section| {
        let heading = section.heading.to_lowercase();
        words.iter().any(|word| heading.contains(word.as_str()))
    };
    let mut found: Vec<&Section> = SECTIONS.iter().filter(has_all).collect();
    found.sort_by_cached_key(|section| !is_named(section));
    found.truncate(SHOWN);
    found
        .into_iter()
        .map(|section| place(section, &words))
        .collect()
}

/// The sections of all chapters.
static SECTIONS: LazyLock<Vec<Section>> =
    LazyLock::new(|| book::all().flat_map(sections).collect());

/// A heading with the words below it.
struct Section {
    chapter: &'static Chapter,
    heading: String,
    anchor: String,
    text: String,
    /// Heading and words, in lower case.
    lower: String,
}

fn sections(chapter: &'static Chapter) -> Vec<Section> {
    let section = |heading: String, anchor: String| Section {
        chapter,
        heading,
        anchor,
        text: String::new(),
        lower: String::new(),
    };
    let mut anchors = text::Anchors::default();
    let mut sections = vec![section(String::new(), String::new())];
    let mut events = text::parser(chapter.text);
    while let Some(event) = events.next() {
        if matches!(event, Event::Start(Tag::Heading { .. })) {
            let heading = text::words(&mut events);
            let anchor = anchors.of(&heading);
            sections.push(section(heading, anchor));
        } else if let (Some(word), Some(last)) = (text::word(event), sections.last_mut()) {
            last.text.push_str(&word);
        }
    }
    for section in &mut sections {
        section.lower = format!("{} {}", section.heading, section.text).to_lowercase();
    }
    sections
}

fn place(section: &Section, words: &[String]) -> Place {
    let title = section.chapter.title();
    let is_title = section.heading == title;
    let unless_title = |text: &String| match is_title {
        true => String::new(),
        false => text.clone(),
    };
    Place {
        path: section.chapter.path(),
        anchor: unless_title(&section.anchor),
        chapter: title,
        heading: unless_title(&section.heading),
        excerpt: excerpt(&section.text, words),
    }
}

/// The text around the first of the words, or its beginning.
fn excerpt(text: &str, words: &[String]) -> String {
    let letters: Vec<char> = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .collect();
    let lower: String = letters
        .iter()
        .flat_map(|letter| letter.to_lowercase().next())
        .collect();
    let at = words
        .iter()
        .filter_map(|word| lower.find(word.as_str()))
        .min();
    let at = at.map_or(0, |bytes| lower[..bytes].chars().count());
    let around = at.saturating_sub(AROUND);
    let blank = letters[around..at].iter().position(|letter| *letter == ' ');
    let begin = match around {
        0 => 0,
        around => around + blank.map_or(0, |blank| blank + 1),
    };
    let end = letters.len().min(at + 2 * AROUND);
    let mut shown: String = letters[begin..end].iter().collect();
    if begin > 0 {
        shown.insert(0, '…');
    }
    if end < letters.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_with_all_words_are_found_and_named_ones_first() {
        let found = places("webhook-signature  SECRET");
        assert!(!found.is_empty());
        for place in &found {
            assert!(place.path.starts_with("/guide/"));
        }
        let first = places("rotate").into_iter().next().unwrap();
        assert!(first.excerpt.to_lowercase().contains("rotate"), "{first:?}");
        let named = places("replay").into_iter().next().unwrap();
        let heading = format!("{} {}", named.chapter, named.heading).to_lowercase();
        assert!(heading.contains("replay"), "{named:?}");
        assert_eq!(places("no such words anywhere zzz"), []);
    }

    #[test]
    fn an_excerpt_is_cut_between_letters() {
        let text = format!("{} needle {}", "é".repeat(500), "ü".repeat(500));
        let shown = excerpt(&text, &["needle".to_owned()]);
        assert!(
            shown.starts_with("…needle ") && shown.ends_with('…'),
            "{shown}"
        );
        assert_eq!(excerpt("short", &["other".to_owned()]), "short");
    }
}
