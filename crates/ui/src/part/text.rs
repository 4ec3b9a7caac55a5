//! Text that users or the world made, as people are to see it: whole characters, in its own direction, with nothing
//! hidden in it.

use maud::{Markup, html};

/// Characters of a line in a list.
pub(crate) const LINE_CHARS: usize = 160;

/// A value on one line, cut where it is long.
pub(crate) fn line(text: &str) -> Markup {
    let (shown, is_cut) = cut(text, LINE_CHARS);
    html! { bdi { (visible(shown)) @if is_cut { "…" } } }
}

/// A value, whole.
pub(crate) fn value(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}

/// A sentence whose names and values are between backticks.
pub(crate) fn sentence(told: &str) -> Markup {
    if told.matches('`').count() % 2 == 1 {
        return value(told);
    }
    html! {
        @for (at, part) in told.split('`').enumerate() {
            @if at % 2 == 0 { (value(part)) } @else { code { (value(part)) } }
        }
    }
}

/// The stack of an error, folded: it is for those who wrote the code.
pub(crate) fn stack(text: &str) -> Markup {
    html! {
        details {
            summary { "Where in the code" }
            pre.stack tabindex="0" { (value(text)) }
        }
    }
}

/// The beginning of a text of so many characters, and whether there is more.
pub(crate) fn cut(text: &str, chars: usize) -> (&str, bool) {
    match text.char_indices().nth(chars) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

/// The text with characters that cannot be seen, or change the direction of others, as escapes; colours of terminals are
/// left out.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' | '\t' => shown.push(char),
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                // Up to the letter that ends the sequence.
                while chars
                    .next()
                    .is_some_and(|char| !('@'..='~').contains(&char))
                {}
            }
            char if is_hidden(char) => shown.extend(char.escape_unicode()),
            char => shown.push(char),
        }
    }
    shown
}

/// Whether a character is not seen, or changes the direction of others.
pub(crate) fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// A number of bytes for people.
pub(crate) fn bytes(count: usize) -> String {
    match count {
        0..1_024 => format!("{count} B"),
        1_024..1_048_576 => format!("{:.1} KiB", count as f64 / 1_024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", count as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", count as f64 / 1_073_741_824.0),
    }
}

/// A number with its noun.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", grouped(count)),
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_in_a_text() {
        for (given, shown) in [
            ("plain é 中 🎉\nline\ttab", "plain é 中 🎉\nline\ttab"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("bell\u{7}", "bell\\u{7}"),
            ("\u{1b}", "\\u{1b}"),
            ("cut\u{1b}[31", "cut"),
        ] {
            assert_eq!(visible(given), shown, "{given:?}");
        }
    }

    #[test]
    fn markup_is_text() {
        let shown = line("<script>alert(1)</script>").into_string();
        assert_eq!(shown, "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>");
    }

    #[test]
    fn names_in_a_sentence_are_set_apart() {
        let shown = |told: &str| sentence(told).into_string();
        assert_eq!(
            shown("No `<b>` here"),
            "<bdi>No </bdi><code><bdi>&lt;b&gt;</bdi></code><bdi> here</bdi>"
        );
        assert_eq!(shown("It's a ` alone"), "<bdi>It's a ` alone</bdi>");
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        assert_eq!(cut("ééé", 2), ("éé", true));
        assert_eq!(cut("ééé", 3), ("ééé", false));
    }

    #[test]
    fn numbers_are_for_people() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(counted(1, "event", "events"), "1 event");
        assert_eq!(counted(0, "event", "events"), "0 events");
        assert_eq!(bytes(1_536), "1.5 KiB");
    }
}
