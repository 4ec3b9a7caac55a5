//! No comment line of the code begins with a relative clause: a comment names its thing with a noun or a verb.

use super::{
    tracked::TrackedFile,
    violation::{Rule, Violation},
};

const WORDS: [&str; 4] = ["What", "Who", "Whoever", "Whatever"];
/// Marks of comments, a longer one before its beginning.
const MARKS: [&str; 6] = ["///", "//!", "//", "/**", "/*", "*"];

pub(super) fn check(file: &TrackedFile) -> Vec<Violation> {
    if !is_checked(&file.path) {
        return Vec::new();
    }
    let on_line = |(index, line): (usize, &str)| {
        let word = opening_word(line)?;
        Some(Violation {
            rule: Rule::CommentOpening,
            path: file.path.clone(),
            line: index + 1,
            text: format!(
                "a comment begins with `{word}`; begin it with a noun or a third-person verb"
            ),
        })
    };
    file.text.lines().enumerate().filter_map(on_line).collect()
}

/// Sources, templates, benches and development tools; not the tests beside them.
fn is_checked(path: &str) -> bool {
    let Some((folders, name)) = path.rsplit_once('/') else {
        return false;
    };
    let is_code = [".rs", ".ts", ".mjs", ".js"]
        .iter()
        .any(|ending| name.ends_with(ending));
    let mut folders = folders.split('/');
    let is_in_place = match folders.next() {
        Some("benches" | "xtask") => true,
        Some("crates") => folders.any(|folder| matches!(folder, "src" | "templates" | "benches")),
        _ => false,
    };
    is_code && is_in_place
}

fn opening_word(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    let comment = MARKS.iter().find_map(|mark| line.strip_prefix(mark))?;
    let first = comment.split_whitespace().next()?;
    WORDS.into_iter().find(|word| *word == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, line: &str) -> Vec<String> {
        let file = TrackedFile {
            path: path.to_owned(),
            text: format!("first\n{line}\n"),
        };
        check(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn comments_that_begin_with_a_relative_clause_are_found_with_their_line() {
        for word in WORDS {
            for mark in MARKS {
                let found = found("crates/a/src/b.rs", &format!("    {mark} {word} it does."));
                let start = format!("crates/a/src/b.rs:2: a comment begins with `{word}`");
                assert_eq!(found.len(), 1, "{mark} {word}");
                assert!(found[0].starts_with(&start), "{found:?}");
            }
        }
    }

    #[test]
    fn other_comments_and_code_are_not() {
        for line in [
            "/// The code, and what it does.",
            "// Whole lines.",
            "let text = \"What now?\"; // Asked.",
            "What { it }",
        ] {
            assert_eq!(found("crates/a/src/b.rs", line), [""; 0], "{line}");
        }
    }

    #[test]
    fn sources_templates_benches_and_tools_are_checked() {
        let line = "// What it does.";
        for path in [
            "crates/a/src/b.rs",
            "crates/a/templates/b.mjs",
            "crates/a/benches/b.rs",
            "benches/b.ts",
            "xtask/src/b.rs",
        ] {
            assert_eq!(found(path, line).len(), 1, "{path}");
        }
        for path in ["crates/a/tests/it/b.rs", "docs/src/b.md", "b.rs"] {
            assert_eq!(found(path, line), [""; 0], "{path}");
        }
    }
}
