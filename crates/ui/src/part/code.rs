//! Text to copy: command lines, requests, addresses.

use maud::{Markup, html};

use super::{
    icon::{Icon, icon},
    text,
};

/// A line to copy. Without script it can be selected whole.
pub(crate) fn copyable(text: &str) -> Markup {
    html! {
        span.copyable {
            code tabindex="0" { (text::visible(text)) }
            button.quiet type="button" data-copy=(text) hidden aria-label="Copy" title="Copy" { (icon(Icon::Copy)) }
        }
    }
}

/// An argument of a command line, in quotes where it needs them. Characters that a terminal would obey, or that nobody
/// sees, are escaped.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./:@%+=,".contains(char);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    if argument.chars().any(text::is_hidden) {
        let escaped: String = argument
            .chars()
            .flat_map(|char| match char {
                '\'' => "\\'".chars().collect::<Vec<_>>(),
                '\\' => "\\\\".chars().collect(),
                char if text::is_hidden(char) => match char as u32 {
                    code @ 0..=0xffff => format!("\\u{code:04x}").chars().collect(),
                    code => format!("\\U{code:08x}").chars().collect(),
                },
                char => vec![char],
            })
            .collect();
        return format!("$'{escaped}'");
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_one_word_of_a_shell() {
        for (argument, expected) in [
            ("orders", "orders"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("$(rm -r /)", "'$(rm -r /)'"),
            ("a\nb'c", r"$'a\u000ab\'c'"),
            ("a\u{202e}b", r"$'a\u202eb'"),
            ("tag\u{e0041}", r"$'tag\U000e0041'"),
        ] {
            assert_eq!(quoted(argument), expected);
        }
    }
}
