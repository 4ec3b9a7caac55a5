//! Words found in the guide: the sections that have all of them.

use pulldown_cmark::{Event, Tag, TagEnd};

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
    pub(super) chapter: String,
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
    let has_all = |text: &str| words.iter().all(|word| text.contains(word.as_str()));
    let mut found = Vec::new();
    for chapter in book::all() {
        for section in sections(chapter) {
            let heading = section.heading.to_lowercase();
            let whole = format!("{heading} {}", section.text.to_lowercase());
            if has_all(&whole) {
                let is_named = words.iter().any(|word| heading.contains(word.as_str()));
                found.push((!is_named, place(chapter, section, &words)));
            }
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found
        .into_iter()
        .map(|(_, place)| place)
        .take(SHOWN)
        .collect()
}

/// A heading with the words below it.
#[derive(Default)]
struct Section {
    heading: String,
    anchor: String,
    text: String,
}

fn sections(chapter: &Chapter) -> Vec<Section> {
    let mut anchors = text::Anchors::default();
    let mut sections = vec![Section::default()];
    let mut events = text::parser(chapter.text);
    let mut text = String::new();
    while let Some(event) = events.next() {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                let heading = text::words(&mut events);
                let anchor = anchors.of(&heading);
                if let Some(last) = sections.last_mut() {
                    last.text = std::mem::take(&mut text);
                }
                sections.push(Section {
                    heading,
                    anchor,
                    text: String::new(),
                });
            }
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => text.push(' '),
            Event::Start(_)
            | Event::End(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }
    if let Some(last) = sections.last_mut() {
        last.text = text;
    }
    sections
}

fn place(chapter: &Chapter, section: Section, words: &[String]) -> Place {
    let title = text::title(chapter.text);
    let is_title = section.heading == title;
    Place {
        path: chapter.path(),
        anchor: if is_title {
            String::new()
        } else {
            section.anchor
        },
        chapter: title,
        heading: if is_title {
            String::new()
        } else {
            section.heading
        },
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
