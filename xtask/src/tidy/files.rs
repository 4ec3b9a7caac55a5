//! Rules of one `.rs` or `.ts` file: its name, its first line, its length; and the length of script and style of pages.

use super::{
    source,
    tracked::TrackedFile,
    violation::{Rule, Violation},
};

const PRODUCTION_LINES_MAX: usize = 500;
const TEST_LINES_MAX: usize = 800;
/// Of a block of script or style of the web UI.
const ASSET_LINES_MAX: usize = 150;

/// Names that say nothing of what is inside.
const EMPTY_NAMES: [&str; 11] = [
    "manager", "managers", "helper", "helpers", "util", "utils", "common", "misc", "base", "impl",
    "impls",
];

pub(super) fn check(file: &TrackedFile) -> Vec<Violation> {
    let language = match file.path.rsplit_once('.') {
        Some((_, "rs")) => Language::Rust,
        Some((_, "ts")) => Language::TypeScript,
        Some((_, "js" | "css")) if is_asset(&file.path) => {
            let total = file.text.lines().count();
            return too_long(file, "asset", total, ASSET_LINES_MAX, 1)
                .into_iter()
                .collect();
        }
        _ => return Vec::new(),
    };
    if is_fixture(&file.path) {
        return Vec::new();
    }
    let rules = [name(file), opening(file, language)];
    rules
        .into_iter()
        .flatten()
        .chain(sizes(file, language))
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    TypeScript,
}

/// Script and style of the web UI, but for what is bundled.
fn is_asset(path: &str) -> bool {
    path.contains("/assets/js/") || path.contains("/assets/css/")
}

/// Components that tests run: input, not code of the project.
fn is_fixture(path: &str) -> bool {
    path.contains("/tests/components/") || path.contains("/fixtures/")
}

/// Test code by its place; test modules within production files are told apart by [`source`].
fn is_test(path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let in_folder = folders
        .split('/')
        .any(|folder| matches!(folder, "tests" | "conformance"));
    let stem = file.split('.').next().unwrap_or(file);
    in_folder || stem.ends_with("_test") || matches!(stem, "tests" | "testing" | "conformance")
}

fn violation(rule: Rule, file: &TrackedFile, line: usize, text: String) -> Violation {
    Violation {
        rule,
        path: file.path.clone(),
        line,
        text,
    }
}

fn name(file: &TrackedFile) -> Option<Violation> {
    let path = file
        .path
        .rsplit_once('.')
        .map_or(file.path.as_str(), |(path, _)| path);
    let parts: Vec<_> = path.split('/').collect();
    if parts.last() == Some(&"mod") && file.path.ends_with(".rs") {
        let text = format!(
            "`mod.rs`; rename it to `{}.rs`, beside its folder",
            parts[..parts.len() - 1].join("/")
        );
        return Some(violation(Rule::ModuleName, file, 1, text));
    }
    let empty = parts.iter().find(|part| {
        part.split(['_', '-'])
            .any(|word| EMPTY_NAMES.contains(&word))
    })?;
    let text = format!(
        "the name `{empty}` does not say what is inside; name the thing it is responsible for"
    );
    Some(violation(Rule::ModuleName, file, 1, text))
}

fn opening(file: &TrackedFile, language: Language) -> Option<Violation> {
    let mark = match language {
        Language::Rust => "//!",
        Language::TypeScript => "/**",
    };
    let first = file.text.lines().find(|line| !line.starts_with("#!/"));
    if first.is_some_and(|line| line.starts_with(mark)) {
        return None;
    }
    let text = format!(
        "the file does not open with `{mark}`; say what it is responsible for and what it is not"
    );
    Some(violation(Rule::OpeningComment, file, 1, text))
}

fn sizes(file: &TrackedFile, language: Language) -> Vec<Violation> {
    let total = file.text.lines().count();
    if is_test(&file.path) {
        return too_long(file, "test", total, TEST_LINES_MAX, 1)
            .into_iter()
            .collect();
    }
    let tests = match language {
        Language::Rust => source::test_lines(&file.text),
        Language::TypeScript => Vec::new(),
    };
    let test_lines = tests.iter().map(ExactSizeIterator::len).sum();
    let first_test = tests.first().map_or(1, |range| range.start + 1);
    [
        too_long(
            file,
            "production",
            total - test_lines,
            PRODUCTION_LINES_MAX,
            1,
        ),
        too_long(file, "test", test_lines, TEST_LINES_MAX, first_test),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn too_long(
    file: &TrackedFile,
    kind: &str,
    lines: usize,
    max: usize,
    at: usize,
) -> Option<Violation> {
    let text = format!(
        "{lines} {kind} lines, at most {max}; move a part with a name of its own into another file"
    );
    (lines > max).then(|| violation(Rule::FileSize, file, at, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = TrackedFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        check(&file).iter().map(ToString::to_string).collect()
    }

    fn lines(count: usize) -> String {
        "fn f() {}\n".repeat(count)
    }

    fn file(production: usize, tests: usize) -> String {
        format!(
            "//! Doc.\n{}#[cfg(test)]\nmod tests {{\n{}}}\n",
            lines(production - 1),
            lines(tests - 3)
        )
    }

    #[test]
    fn a_file_at_its_limits_passes() {
        assert_eq!(found("crates/a/src/b.rs", &file(500, 800)), [""; 0]);
    }

    #[test]
    fn production_and_test_lines_are_counted_apart() {
        let long = found("crates/a/src/b.rs", &file(501, 801));
        assert_eq!(long.len(), 2, "{long:?}");
        assert!(
            long[0].starts_with("crates/a/src/b.rs:1: 501 production lines, at most 500"),
            "{long:?}"
        );
        assert!(
            long[1].starts_with("crates/a/src/b.rs:502: 801 test lines, at most 800"),
            "{long:?}"
        );
    }

    #[test]
    fn a_test_file_may_have_800_lines() {
        for path in [
            "crates/a/tests/it/b.rs",
            "crates/store/src/conformance/b.rs",
            "crates/a/src/b/tests.rs",
            "runtime/tests/b.ts",
            "runtime/worker/b_test.ts",
        ] {
            let doc = if path.ends_with(".rs") {
                "//! Doc.\n"
            } else {
                "/** Doc. */\n"
            };
            assert_eq!(found(path, &format!("{doc}{}", lines(799))), [""; 0]);
            assert_eq!(
                found(path, &format!("{doc}{}", lines(800))).len(),
                1,
                "{path}"
            );
        }
    }

    #[test]
    fn every_file_opens_with_its_purpose() {
        assert_eq!(found("a.rs", "//! Doc.\n"), [""; 0]);
        assert_eq!(found("a.ts", "/** Doc. */\n"), [""; 0]);
        assert_eq!(found("a.ts", "#!/usr/bin/env deno\n/** Doc. */\n"), [""; 0]);
        for (path, text) in [
            ("a.rs", "// Doc.\n"),
            ("a.rs", ""),
            ("a.rs", "\n//! Late.\n"),
            ("a.ts", "// Doc.\n"),
        ] {
            assert_eq!(found(path, text).len(), 1, "{path} {text:?}");
        }
    }

    #[test]
    fn empty_names_are_refused_in_files_and_folders() {
        for path in [
            "src/utils.rs",
            "src/worker_manager.rs",
            "tests/common/a.rs",
            "src/base.ts",
        ] {
            let found = found(
                path,
                if path.ends_with("ts") {
                    "/** Doc. */"
                } else {
                    "//! Doc."
                },
            );
            assert_eq!(found.len(), 1, "{path}: {found:?}");
        }
        for path in [
            "src/base64.rs",
            "src/implicit.rs",
            "src/database.rs",
            "src/model.rs",
        ] {
            assert_eq!(found(path, "//! Doc."), [""; 0]);
        }
    }

    #[test]
    fn blocks_of_script_and_style_are_short() {
        let text = "a {}\n".repeat(151);
        for (path, count) in [
            ("crates/ui/assets/css/a.css", 1),
            ("crates/ui/assets/js/a.js", 1),
            ("crates/ui/assets/vendor/a.js", 0),
        ] {
            assert_eq!(found(path, &text).len(), count, "{path}");
        }
    }

    #[test]
    fn mod_rs_is_refused_with_its_new_name() {
        let found = found("crates/a/src/pool/mod.rs", "//! Doc.");
        assert!(
            found[0].contains("rename it to `crates/a/src/pool.rs`"),
            "{found:?}"
        );
    }

    #[test]
    fn components_that_tests_run_and_other_languages_are_left_alone() {
        assert_eq!(
            found(
                "crates/engine/tests/components/typescript/component.ts",
                "export {}"
            ),
            [""; 0]
        );
        assert_eq!(found("docs/utils.md", "text"), [""; 0]);
    }
}
