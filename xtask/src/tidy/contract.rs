//! The store's contract keeps its word: each MUST in its documentation names a test of the
//! conformance suite, each test that it names exists, and each test of the suite is run.

use super::{
    tracked::TrackedFile,
    violation::{Rule, Violation},
};

const CONTRACT: &str = "crates/store/src/";
const SUITE: &str = "crates/store/src/conformance/";
const RUNNER: &str = "macro_rules! conformance_tests";
const REFERENCE: &str = "conformance::";

pub(super) fn check(files: &[TrackedFile]) -> Vec<Violation> {
    let is_contract = |file: &&TrackedFile| {
        let name = file.path.strip_prefix(CONTRACT);
        name.is_some_and(|name| name.ends_with(".rs") && !name.starts_with("conformance"))
    };
    let contract = files.iter().filter(is_contract);
    let promises = contract.flat_map(|file| unkept(file, files));
    promises.chain(not_run(files)).collect()
}

/// A word of a file's documentation and the line it is on.
struct Word<'a> {
    text: &'a str,
    line: usize,
}

/// The documentation of a file, each block of comment lines by itself.
fn blocks(text: &str) -> Vec<Vec<Word<'_>>> {
    let mut blocks = vec![Vec::new()];
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        match (comment, blocks.last_mut()) {
            (Some(comment), Some(block)) => {
                let words = comment.split_whitespace();
                block.extend(words.map(|text| Word {
                    text,
                    line: index + 1,
                }));
            }
            _ => blocks.push(Vec::new()),
        }
    }
    blocks
}

fn unkept(file: &TrackedFile, files: &[TrackedFile]) -> Vec<Violation> {
    let violation = |line, text| Violation {
        rule: Rule::Contract,
        path: file.path.clone(),
        line,
        text,
    };
    let mut found = Vec::new();
    for block in blocks(&file.text) {
        let mut promised = None;
        for Word { text, line } in &block {
            if *text == "MUST" {
                found.extend(
                    promised
                        .replace(*line)
                        .map(|line| violation(line, nameless())),
                );
            }
            for reference in text.split(REFERENCE).skip(1) {
                promised = None;
                let end = reference.find(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
                let reference = &reference[..end.unwrap_or(reference.len())];
                if !is_test(reference, files) {
                    let text = format!(
                        "the contract names `{REFERENCE}{reference}`, which does not exist; \
                         write the test or mend the name"
                    );
                    found.push(violation(*line, text));
                }
            }
        }
        found.extend(promised.map(|line| violation(line, nameless())));
    }
    found
}

fn nameless() -> String {
    format!(
        "this MUST names no test; write one below {SUITE} and name it: `{REFERENCE}module::test`"
    )
}

/// Whether `module::test` is a test of the suite.
pub(super) fn is_test(reference: &str, files: &[TrackedFile]) -> bool {
    let Some((module, test)) = reference.split_once("::") else {
        return false;
    };
    let path = format!("{SUITE}{module}.rs");
    let module = files.iter().find(|file| file.path == path);
    module.is_some_and(|file| tests(file).any(|(_, name)| name == test))
}

/// The tests of a module of the suite, with their lines.
fn tests(module: &TrackedFile) -> impl Iterator<Item = (usize, &str)> {
    let lines = module.text.lines().enumerate();
    lines.filter_map(|(index, line)| {
        let (name, _) = line.strip_prefix("pub async fn ")?.split_once('(')?;
        Some((index + 1, name))
    })
}

/// The tests that no store runs, because the macro does not list them.
fn not_run(files: &[TrackedFile]) -> Vec<Violation> {
    let runner = files.iter().filter(|file| file.path.starts_with(CONTRACT));
    let runner = runner
        .map(|file| &file.text)
        .find(|text| text.contains(RUNNER));
    let mut found = Vec::new();
    for file in files {
        let name = file.path.strip_prefix(SUITE);
        let name = name.and_then(|name| name.strip_suffix(".rs"));
        let Some(module) = name.filter(|name| *name != "fixture" && !name.contains('/')) else {
            continue;
        };
        let listed = runner.and_then(|text| text.split_once(&format!(" {module} {{\n")));
        let listed = listed.map_or("", |(_, rest)| rest.split('}').next().unwrap_or(rest));
        let is_listed = |test: &str| listed.split(',').any(|name| name.trim() == test);
        for (line, test) in tests(file).filter(|(_, test)| !is_listed(test)) {
            found.push(Violation {
                rule: Rule::Contract,
                path: file.path.clone(),
                line,
                text: format!("no store runs `{module}::{test}`; list it in `conformance_tests!`"),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str =
        "macro_rules! conformance_tests {\n    queue {\n        a_lease_ends,\n    }\n}\n";

    /// Violations of this contract beside this suite.
    fn found(contract: &str, suite: &str) -> Vec<String> {
        let file = |path: &str, text: &str| TrackedFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let files = [
            file("crates/store/src/conformance.rs", RUN),
            file(
                "crates/store/src/conformance/fixture.rs",
                "pub async fn start() {}\n",
            ),
            file("crates/store/src/conformance/queue.rs", suite),
            file("crates/store/src/deep/work.rs", contract),
        ];
        check(&files).iter().map(ToString::to_string).collect()
    }

    const SUITE_OF_ONE: &str = "pub async fn a_lease_ends(factory: &dyn Factory) {}\n";

    #[test]
    fn a_must_that_names_its_test_is_kept() {
        let contract = "/// MUST end a lease\n    /// (`conformance::queue::a_lease_ends`), MUST NOT\n\
                        /// prolong it (`conformance::queue::a_lease_ends`).\nfn end();\n";
        assert_eq!(found(contract, SUITE_OF_ONE), [""; 0]);
    }

    #[test]
    fn a_must_without_a_test_is_found_wherever_it_stands() {
        for contract in [
            "/// MUST end.\nfn end();\n/// See `conformance::queue::a_lease_ends`.\n",
            "/// MUST end and MUST stay (`conformance::queue::a_lease_ends`).\n",
            "//! The contract MUST hold.\n",
        ] {
            let found = found(contract, SUITE_OF_ONE);
            assert_eq!(found.len(), 1, "{contract} {found:?}");
            let place = "crates/store/src/deep/work.rs:1: this MUST names no test";
            assert!(found[0].starts_with(place), "{found:?}");
        }
    }

    #[test]
    fn a_test_that_is_not_there_is_found() {
        for name in ["queue::a_lease_lasts", "lease::a_lease_ends", "queue"] {
            let found = found(
                &format!("/// MUST end (`conformance::{name}`).\n"),
                SUITE_OF_ONE,
            );
            assert_eq!(found.len(), 1, "{name} {found:?}");
            assert!(
                found[0].contains(&format!("`conformance::{name}`, which")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_test_that_no_store_runs_is_found() {
        let suite = format!("{SUITE_OF_ONE}\npub async fn another(factory: &dyn Factory) {{}}\n");
        assert_eq!(
            found("", &suite),
            [
                "crates/store/src/conformance/queue.rs:3: no store runs `queue::another`; \
                 list it in `conformance_tests!`"
            ]
        );
    }
}
