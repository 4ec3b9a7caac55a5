//! The rules of the house that neither the compiler nor clippy knows: which crate may depend on
//! which, that no modules name each other in a circle, how long a file may be, what it is called,
//! how it opens, that no machine's paths are in it, how its comments begin, that documents name tests
//! that exist and link to places that do, that text becomes markup in one place of the pages only, and that the bundled
//! editor is the one of its manifest.
//! Function length and parameter counts are clippy's (`clippy.toml`).

mod circles;
mod comments;
mod contract;
mod edges;
mod exceptions;
mod files;
mod invariants;
mod links;
mod markup;
mod paths;
#[cfg(test)]
pub(crate) mod scratch;
mod source;
mod tracked;
mod vendor;
mod violation;

use std::path::Path;

use anyhow::{Result, bail};

use exceptions::{EXCEPTIONS, Exception};
use tracked::TrackedFile;
use violation::Violation;

/// Checks the repository and prints every violation.
pub(crate) fn run(root: &Path) -> Result<()> {
    let files = tracked::read(root)?;
    let mut found = check_files(&files);
    found.extend(circles::check(&files));
    found.extend(contract::check(&files));
    found.extend(vendor::check(&files));
    found.extend(invariants::check(&files));
    found.extend(links::check(root, &files));
    found.extend(edges::check(&edges::metadata()?)?);
    let left = except(found, EXCEPTIONS);
    for violation in &left {
        println!("{violation}");
    }
    match left.len() {
        0 => Ok(()),
        1 => bail!("tidy: 1 violation"),
        count => bail!("tidy: {count} violations"),
    }
}

fn check_files(files: &[TrackedFile]) -> Vec<Violation> {
    let check = |file| {
        let found = files::check(file).into_iter().chain(paths::check(file));
        found
            .chain(comments::check(file))
            .chain(markup::check(file))
    };
    files.iter().flat_map(check).collect()
}

/// Takes away what is excepted; an exception that excepts nothing is itself a violation.
fn except(found: Vec<Violation>, exceptions: &[Exception]) -> Vec<Violation> {
    let excepts = |exception: &Exception, violation: &Violation| {
        exception.rule == violation.rule && covers(exception.path, &violation.path)
    };
    let unused = exceptions
        .iter()
        .filter(|exception| !found.iter().any(|violation| excepts(exception, violation)))
        .map(|exception| Violation {
            rule: exception.rule,
            path: exceptions::FILE.to_owned(),
            line: 1,
            text: format!(
                "`{}` no longer needs its exception ({}); delete the line",
                exception.path, exception.reason
            ),
        })
        .collect::<Vec<_>>();
    let is_left = |violation: &Violation| !exceptions.iter().any(|e| excepts(e, violation));
    found.into_iter().filter(is_left).chain(unused).collect()
}

/// Whether a path is the excepted one or, where that is a folder's (`a/`), within it.
fn covers(excepted: &str, path: &str) -> bool {
    excepted == path || (excepted.ends_with('/') && path.starts_with(excepted))
}

#[cfg(test)]
mod tests {
    use super::{violation::Rule, *};

    fn violation(path: &str) -> Violation {
        let path = path.to_owned();
        Violation {
            rule: Rule::FileSize,
            path,
            line: 7,
            text: "is wrong; mend it".to_owned(),
        }
    }

    fn exception(path: &'static str) -> Exception {
        Exception {
            rule: Rule::FileSize,
            path,
            reason: "generated",
        }
    }

    #[test]
    fn a_violation_reads_path_line_and_what_to_do() {
        assert_eq!(violation("a.rs").to_string(), "a.rs:7: is wrong; mend it");
    }

    #[test]
    fn an_exception_covers_its_path_and_rule_only() {
        let left = except(
            vec![violation("a.rs"), violation("b.rs")],
            &[exception("a.rs")],
        );
        assert_eq!(left, [violation("b.rs")]);
    }

    #[test]
    fn an_exception_of_a_folder_covers_what_is_in_it() {
        let found = vec![violation("a/b.rs"), violation("ab/b.rs")];
        assert_eq!(except(found, &[exception("a/")]), [violation("ab/b.rs")]);
    }

    #[test]
    fn an_exception_that_is_no_longer_needed_is_a_violation() {
        let left = except(Vec::new(), &[exception("gone.rs")]);
        assert_eq!(left.len(), 1);
        assert!(
            left[0].text.contains("`gone.rs` no longer needs"),
            "{}",
            left[0]
        );
    }

    #[test]
    fn bad_files_are_found_and_good_ones_are_not() {
        let folder = scratch::Scratch::new();
        folder.write("crates/a/src/lib.rs", "//! Good.\n");
        folder.write("crates/a/src/utils.rs", "fn f() {}\n");
        folder.write("target/debug/utils.rs", "fn f() {}\n");
        let files = tracked::read(folder.path()).unwrap();
        let found: Vec<_> = check_files(&files)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found
                .iter()
                .all(|line| line.starts_with("crates/a/src/utils.rs:1: ")),
            "{found:?}"
        );
    }
}
