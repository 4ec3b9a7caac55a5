//! A text on one line in which the words of a search are marked.

use std::ops::Range;

use maud::{Markup, html};

use super::text::{cut, visible};

/// Bytes of a text in which words are looked for.
const LOOKED_AT: usize = 64 * 1_024;
/// Characters that are shown before the first word, if that is not within the beginning.
const BEFORE_CHARS: usize = 30;

/// The beginning of a text, or the piece around the first of the words (in lower case), of so many characters.
pub(crate) fn marked(text: &str, words: &[String], chars: usize) -> Markup {
    let found = found(text, words);
    let start = match found.first() {
        Some(first) if text[..first.end].chars().count() > chars => {
            let before = text[..first.start].char_indices().rev();
            before.take(BEFORE_CHARS).last().map_or(0, |(at, _)| at)
        }
        _ => 0,
    };
    let (shown, is_cut) = cut(&text[start..], chars);
    let end = start + shown.len();
    let mut pieces = Vec::new();
    let mut at = start;
    for word in found
        .iter()
        .filter(|word| word.start >= start && word.end <= end)
    {
        pieces.push((&text[at..word.start], false));
        pieces.push((&text[word.clone()], true));
        at = word.end;
    }
    pieces.push((&text[at..end], false));
    html! {
        bdi {
            @if start > 0 { "…" }
            @for (piece, is_word) in pieces {
                @if is_word { mark { (visible(piece)) } } @else { (visible(piece)) }
            }
            @if is_cut { "…" }
        }
    }
}

/// The places of the words, in any case, in their order and apart.
fn found(text: &str, words: &[String]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut end = 0;
    for (at, _) in text.char_indices() {
        if at >= LOOKED_AT {
            break;
        }
        if at < end {
            continue;
        }
        let lengths = words.iter().filter_map(|word| length_at(&text[at..], word));
        if let Some(length) = lengths.max() {
            end = at + length;
            found.push(at..end);
        }
    }
    found
}

/// The length of the word with which the text begins, in bytes of the text.
fn length_at(text: &str, word: &str) -> Option<usize> {
    let mut wanted = word.chars().peekable();
    wanted.peek()?;
    for (at, char) in text.char_indices() {
        if wanted.peek().is_none() {
            return Some(at);
        }
        for lower in char.to_lowercase() {
            if wanted.next() != Some(lower) {
                return None;
            }
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, words: &[&str]) -> String {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        marked(text, &words, 40).into_string()
    }

    #[test]
    fn words_are_marked_in_any_case() {
        assert_eq!(
            shown("Order of ÄPFEL <b>", &["order", "äpf"]),
            "<bdi><mark>Order</mark> of <mark>ÄPF</mark>EL &lt;b&gt;</bdi>"
        );
        assert_eq!(
            shown("aaa", &["aa", "a", ""]),
            "<bdi><mark>aa</mark><mark>a</mark></bdi>"
        );
        assert_eq!(shown("none", &[]), "<bdi>none</bdi>");
        assert_eq!(
            shown("İ", &["i"]),
            "<bdi>İ</bdi>",
            "half of a letter is no word"
        );
    }

    #[test]
    fn a_word_far_away_is_shown_with_what_surrounds_it() {
        let text = format!("{}needle{}", "ä".repeat(1_000), "b".repeat(1_000));
        let html = shown(&text, &["needle"]);
        assert!(html.contains("ää<mark>needle</mark>bb"), "{html}");
        assert!(
            html.starts_with("<bdi>…") && html.ends_with("…</bdi>"),
            "{html}"
        );
        let far = format!("{}needle", "x".repeat(LOOKED_AT));
        assert!(!shown(&far, &["needle"]).contains("mark"));
    }
}
