//! Text never becomes markup behind the back of the pages: templates escape all of it, and script has one way in for HTML
//! that the node rendered.

use super::{
    tracked::TrackedFile,
    violation::{Rule, Violation},
};

const TEMPLATES: &str = "crates/ui/src/";
const SCRIPTS: &str = "crates/ui/assets/js/";
/// The one way in.
const DOORWAY: &str = "crates/ui/assets/js/dom.js";

/// Names that turn text into markup or code. Assembled, so that this file does not contain them.
const OF_TEMPLATES: [&str; 1] = [concat!("Pre", "Escaped")];
const OF_SCRIPTS: [&str; 9] = [
    concat!("inner", "HTML"),
    concat!("outer", "HTML"),
    concat!("insertAdjacent", "HTML"),
    concat!("setHTML", "Unsafe"),
    concat!("createContextual", "Fragment"),
    concat!("document", ".write"),
    concat!("eval", "("),
    concat!("Func", "tion("),
    concat!("src", "doc"),
];
/// The one that the way in uses, once.
const IN_DOORWAY: &str = OF_SCRIPTS[0];

pub(super) fn check(file: &TrackedFile) -> Vec<Violation> {
    let path = file.path.as_str();
    let (names, once) = match path {
        _ if path.starts_with(TEMPLATES) => (&OF_TEMPLATES[..], None),
        DOORWAY => (&OF_SCRIPTS[..], Some(IN_DOORWAY)),
        _ if path.starts_with(SCRIPTS) => (&OF_SCRIPTS[..], None),
        _ => return Vec::new(),
    };
    let mut allowed = once;
    let mut found = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for name in names.iter().filter(|name| line.contains(**name)) {
            if allowed == Some(*name) {
                allowed = None;
                continue;
            }
            found.push(Violation {
                rule: Rule::Markup,
                path: file.path.clone(),
                line: index + 1,
                text: format!(
                    "`{name}` turns text into markup or code; render it in a template, or pass what the node \
                     rendered to `hw.fragment`"
                ),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let file = TrackedFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        check(&file).len()
    }

    #[test]
    fn markup_has_one_way_into_pages() {
        let [html, outer, ..] = OF_SCRIPTS;
        let escaped = OF_TEMPLATES[0];
        for (path, text, expected) in [
            (DOORWAY, format!("a.{html} = b;"), 0),
            (DOORWAY, format!("a.{html} = b;\nc.{html} = d;"), 1),
            (DOORWAY, format!("a.{outer} = b;"), 1),
            ("crates/ui/assets/js/live.js", format!("a.{html} = b;"), 1),
            (
                "crates/ui/assets/js/live.js",
                "a.textContent = b;".to_owned(),
                0,
            ),
            (
                "crates/ui/assets/vendor/codemirror.js",
                format!("a.{html} = b;"),
                0,
            ),
            (
                "crates/ui/src/part/text.rs",
                format!("({escaped}(text))"),
                1,
            ),
            ("crates/api/src/docs.rs", format!("({escaped}(text))"), 0),
        ] {
            assert_eq!(found(path, &text), expected, "{path}: {text}");
        }
        for name in OF_SCRIPTS {
            assert_eq!(found("crates/ui/assets/js/a.js", name), 1, "{name}");
        }
    }
}
