//! The parts of a component's card: the address of its form, and what it says of itself.

use maud::Markup;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::part::{
    markdown::words,
    text::{self, cut},
};

/// Characters of a description on a card.
const ABOUT_CHARS: usize = 240;
/// Characters that stand in a path as they are.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'/')
    .remove(b'@')
    .remove(b':')
    .remove(b'^');

/// The address of a component's form.
pub(super) fn address(reference: &str) -> String {
    format!("/deploy/{}", utf8_percent_encode(reference, PATH))
}

/// The beginning of a description.
pub(super) fn short(text: &str) -> Markup {
    let words = words(text);
    let (shown, is_cut) = cut(&words, ABOUT_CHARS);
    text::value(&format!("{shown}{}", if is_cut { "…" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_package_has_an_address() {
        let reference = "npm:@pipedream/rss@0.5.1/sources/new item?/a#b.mjs";
        assert_eq!(
            address(reference),
            "/deploy/npm:@pipedream/rss@0.5.1/sources/new%20item%3F/a%23b.mjs"
        );
    }
}
