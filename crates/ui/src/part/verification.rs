//! Ways to check the signatures of deliveries, as code to copy. A test runs each against a real delivery.

use maud::{Markup, html};

use super::icon::{Icon, icon};

/// Languages with their code.
const SNIPPETS: [(&str, &str); 5] = [
    ("JavaScript", include_str!("../../snippets/verify.mjs")),
    ("Python", include_str!("../../snippets/verify.py")),
    ("Go", include_str!("../../snippets/verify.go")),
    ("Ruby", include_str!("../../snippets/verify.rb")),
    ("openssl", include_str!("../../snippets/verify.sh")),
];

/// The code for each language, folded.
pub(crate) fn snippets() -> Markup {
    html! {
        p {
            "Each request is signed as "
            a href="https://www.standardwebhooks.com" rel="noopener noreferrer nofollow" { "Standard Webhooks" }
            " says; there are libraries for most languages. Without one:"
        }
        @for (language, code) in SNIPPETS {
            details.card {
                summary { (language) }
                (block(code))
            }
        }
    }
}

/// Bytes of a text that is copied or edited on a page; larger ones are files.
pub(crate) const COPIED_BYTES_MAX: usize = 64 * 1_024;

/// Code of several lines to copy.
pub(crate) fn block(code: &str) -> Markup {
    html! {
        div.snippet {
            pre tabindex="0" { code { (code) } }
            button.quiet type="button" data-copy=(code) hidden aria-label="Copy" title="Copy" { (icon(Icon::Copy)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_the_same_code() {
        let guide = include_str!("../../../../docs/guide/webhooks.md");
        for (language, code) in SNIPPETS {
            let shown = guide.split_once(&format!("### {language}\n")).unwrap().1;
            let shown = shown.split("```").nth(1).unwrap();
            let (_, shown) = shown.split_once('\n').unwrap();
            assert_eq!(shown, code, "{language}");
        }
    }
}
