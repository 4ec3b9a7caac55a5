//! The table of invariants in the architecture keeps its word: every path and every test that it
//! says an invariant is held by exists.

use super::{
    contract,
    tracked::TrackedFile,
    violation::{Rule, Violation},
};

const DOCUMENT: &str = "docs/architecture.md";
const HEADING: &str = "## Invariants";
const ENDINGS: [&str; 4] = [".rs", ".ts", ".toml", ".md"];

pub(super) fn check(files: &[TrackedFile]) -> Vec<Violation> {
    let Some(document) = files.iter().find(|file| file.path == DOCUMENT) else {
        return Vec::new();
    };
    let violation = |line, text| Violation {
        rule: Rule::Invariant,
        path: DOCUMENT.to_owned(),
        line,
        text,
    };
    let mut found = Vec::new();
    for (line, number, holders) in rows(&document.text) {
        let broken = broken_references(holders, files);
        if broken.is_empty() && !is_held(holders) {
            let text = format!("invariant {number} is held by nothing; name a test or a lint");
            found.push(violation(line, text));
        }
        found.extend(broken.into_iter().map(|reference| {
            let text = format!(
                "invariant {number} is held by `{reference}`, which does not exist; \
                 name its new place"
            );
            violation(line, text)
        }));
    }
    if found.is_empty() && rows(&document.text).next().is_none() {
        let text = format!("there is no table below `{HEADING}`; every invariant names its tests");
        found.push(violation(1, text));
    }
    found
}

/// The rows of the table: line, number, the column "held by".
fn rows(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let lines = text.lines().enumerate();
    let below = lines
        .skip_while(|(_, line)| line.trim_end() != HEADING)
        .skip(1);
    let section = below.take_while(|(_, line)| !line.starts_with("## "));
    section.filter_map(|(index, line)| {
        let line = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        let (number, _) = line.split_once('|')?;
        let (_, holders) = line.rsplit_once('|')?;
        let number = number.trim();
        let is_row = number.parse::<u32>().is_ok();
        is_row.then_some((index + 1, number, holders))
    })
}

fn is_held(holders: &str) -> bool {
    let names_suite = holders
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word == "suite");
    names_suite || code(holders).any(is_path)
}

fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_path(reference: &str) -> bool {
    reference.contains('/') || ENDINGS.iter().any(|ending| reference.ends_with(ending))
}

/// The paths and tests that are not there. A name in snake case is a test of a file of the row;
/// anything else is a setting or a type.
fn broken_references(holders: &str, files: &[TrackedFile]) -> Vec<String> {
    let paths = code(holders).filter(|reference| is_path(reference));
    let paths = paths.flat_map(expanded).collect::<Vec<_>>();
    let exists = |path: &String| {
        let is_there = |file: &TrackedFile| is_at(&file.path, path);
        files.iter().any(is_there)
    };
    let has_test = |test: &str| {
        let declared = format!("fn {test}(");
        let named = |file: &&TrackedFile| paths.iter().any(|path| is_at(&file.path, path));
        files
            .iter()
            .filter(named)
            .any(|file| file.text.contains(&declared))
    };
    let missing_tests =
        code(holders).filter(|reference| match reference.strip_prefix("conformance::") {
            Some(test) => !contract::is_test(test, files),
            None => is_snake_case(reference) && !has_test(reference),
        });
    let missing_tests = missing_tests.map(str::to_owned).collect::<Vec<_>>();
    let missing_paths = paths.iter().filter(|path| !exists(path)).cloned();
    missing_paths.chain(missing_tests).collect()
}

/// Whether a file is the one at that path or in the folder there.
fn is_at(file: &str, path: &str) -> bool {
    let within = file.strip_prefix(path.trim_end_matches('/'));
    within.is_some_and(|rest| rest.starts_with('/') || (rest.is_empty() && !path.ends_with('/')))
}

/// `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn expanded(path: &str) -> Vec<String> {
    let parts = path.split_once('{');
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (choices, after))) = parts else {
        return vec![path.to_owned()];
    };
    let choices = choices.split(',').map(str::trim);
    choices
        .map(|choice| format!("{before}{choice}{after}"))
        .collect()
}

fn is_snake_case(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    word.contains('_') && word.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Violations of a table with one row, whose last column is this.
    fn found(holders: &str) -> Vec<String> {
        let file = |path: &str, text: &str| TrackedFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let document = format!(
            "# House\n\n`gone.rs`\n\n## Invariants\n\n| # | invariant | held by |\n|---|---|---|\n\
             | 1 | `gone/` stays. | {holders} |\n\n## After\n\n| 2 | x | `gone.rs` |\n"
        );
        let files = [
            file(DOCUMENT, &document),
            file("clippy.toml", ""),
            file(
                "crates/a/tests/it/deploy.rs",
                "async fn all_or_nothing() {}\n",
            ),
            file("crates/a/tests/it/update.rs", ""),
            file(
                "crates/store/src/conformance/queue.rs",
                "pub async fn ends(f: F) {}\n",
            ),
        ];
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_row_whose_holders_exist_is_kept() {
        for holders in [
            "`crates/a/tests/it/deploy.rs`",
            "`crates/a/tests/`, suite",
            "`crates/a/tests/it/{deploy,update}.rs`, `all_or_nothing`",
            "`clippy.toml`, `disallowed-methods`",
            "suite, `conformance::queue::ends`",
        ] {
            assert_eq!(found(holders), [""; 0], "{holders}");
        }
    }

    #[test]
    fn a_missing_holder_is_named_with_its_invariant() {
        for (holders, missing) in [
            ("`crates/a/tests/it/gone.rs`", "crates/a/tests/it/gone.rs"),
            ("`crates/a/tests/it/dep`", "crates/a/tests/it/dep"),
            (
                "`crates/a/tests/it/deploy.rs/`",
                "crates/a/tests/it/deploy.rs/",
            ),
            (
                "`crates/a/tests/it/{deploy,gone}.rs`",
                "crates/a/tests/it/gone.rs",
            ),
            ("`clippy.toml`, `all_or_nothing`", "all_or_nothing"),
            (
                "suite, `conformance::queue::lasts`",
                "conformance::queue::lasts",
            ),
        ] {
            let expected = format!(
                "docs/architecture.md:9: invariant 1 is held by `{missing}`, which does not exist; \
                 name its new place"
            );
            assert_eq!(found(holders), [expected]);
        }
    }

    #[test]
    fn a_row_that_nothing_holds_is_found() {
        for holders in ["", "care", "`Outcome`"] {
            let found = found(holders);
            assert_eq!(found.len(), 1, "{holders}");
            assert!(
                found[0].contains("invariant 1 is held by nothing"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_document_without_the_table_is_found() {
        let text = "# House\n\n## Invariants\n\nAll of them.\n".to_owned();
        let path = DOCUMENT.to_owned();
        assert_eq!(check(&[TrackedFile { path, text }]).len(), 1);
    }
}
