//! Downloading packages as a separate step, for its error messages: the steps that resolve and bundle do not report
//! why a package is unavailable. Not responsible for the packages' use.

use std::path::Path;

use super::{
    command::{DenoTool, Purpose, unavailable},
    explanation::explain,
    failure::{BuildFailure, BuildResult, not_resolved},
    layout::{CONFIG, LOCK, PACKAGES},
    specifier::PackageImport,
};

/// Deno's messages for invalid or missing packages.
const UNUSABLE: &[&str] = &[
    "does not exist",
    "Could not find npm package",
    "Could not find dist-tag",
    "checksum did not match",
    "npm tarball",
];
/// Its messages for a registry that did not answer.
const UNANSWERED: &[&str] = &[
    "Failed loading ",
    "Failed caching ",
    "error sending request",
    "Bad response",
];

/// Downloads the imports of the module of [`super::packages::resolve`], or returns the obstacle.
pub(super) async fn download(
    tool: &DenoTool,
    folder: &Path,
    packages: &[PackageImport],
) -> BuildResult<()> {
    let arguments = [
        "cache",
        "--quiet",
        "--no-remote",
        "--config",
        CONFIG,
        "--lock",
        LOCK,
        PACKAGES,
    ];
    let step = tool.run(Purpose::Registry, folder, arguments).await?;
    let complaint = if step.success {
        None
    } else {
        complaint(packages, &one_line(&step.error()))
    };
    complaint.map_or(Ok(()), Err)
}

/// The error as a sentence: Deno's causes are on numbered lines, its places in a module of ours.
fn one_line(error: &str) -> String {
    let lines = error.lines().map(|line| {
        let line = line.trim();
        let cause = line
            .split_once(": ")
            .filter(|(number, _)| number.parse::<u8>().is_ok());
        cause.map_or(line, |(_, cause)| cause)
    });
    let kept: Vec<_> = lines
        .filter(|line| !line.is_empty() && !line.starts_with("at file:"))
        .collect();
    kept.join("; ")
}

/// The failure behind an error about obtaining a package; `None` for any other error.
fn complaint(packages: &[PackageImport], error: &str) -> Option<BuildFailure> {
    let says = |signs: &[&str]| signs.iter().any(|sign| error.contains(sign));
    let named = named(error);
    let import = packages.iter().find(|package| package.name == named);
    let what = match import {
        Some(import) => format!("`{}`", import.written),
        None if named.is_empty() => "a package".to_owned(),
        None => format!("`{named}`, which an imported package needs,"),
    };
    if says(&["Bad response: 401", "Bad response: 403"]) {
        return Some(not_resolved(format!(
            "{what} is refused by the package registry ({error}); put a token that may read it into the \
             .npmrc of the user that the node runs as"
        )));
    }
    let explained = import
        .and_then(|import| explain(packages, &format!("npm:{}", import.requirement()), error));
    if let Some(explained) = explained {
        return Some(not_resolved(explained));
    }
    if says(UNUSABLE) {
        return Some(not_resolved(format!("{what} cannot be installed: {error}")));
    }
    says(UNANSWERED).then(|| unavailable(&format!("{what}: {error}")).into())
}

/// The name of the package that an error is about.
fn named(error: &str) -> &str {
    let after = [
        "for package \"",
        "package '",
        "matching '",
        "package tarball at: ",
    ]
    .iter()
    .find_map(|sign| error.split_once(sign))
    .map_or("", |(_, after)| after);
    let quoted = after.split(['"', '\'']).next().unwrap_or_default();
    // The version follows the name, whose scope begins with the same character.
    match quoted.rfind('@') {
        Some(at) if at > 0 => &quoted[..at],
        _ => quoted,
    }
}

#[cfg(test)]
mod tests {
    use super::{complaint, named, one_line};
    use crate::build::{failure::BuildFailure, specifier::Specifier};

    #[test]
    fn errors_are_sentences_about_a_package() {
        for (error, name) in [
            ("npm package '@a/missing' does not exist.", "@a/missing"),
            ("Could not find npm package 'good' matching '9'.", "good"),
            (
                "Failed caching npm package '@a/b@1.0.0'; Tarball checksum did not match",
                "@a/b",
            ),
            (
                "Failed loading http://h/@a%2fb for package \"@a/b\"; Bad response: 401",
                "@a/b",
            ),
            ("something else", ""),
        ] {
            assert_eq!(named(error), name);
        }
        let error = "Failed loading x for package \"a\"\n    0: Bad response: 401\n       \n       {\"error\":1}\n    at file:///p.mjs:1:2\n";
        assert_eq!(
            one_line(error),
            "Failed loading x for package \"a\"; Bad response: 401; {\"error\":1}"
        );
    }

    #[test]
    fn what_the_author_can_mend_is_told_from_what_the_host_must() {
        let Specifier::Package(import) = Specifier::parse("npm:a@^2/x.js") else {
            panic!("a package");
        };
        for (error, expected) in [
            (
                "Failed loading x for package \"a\"; Bad response: 403",
                "`npm:a@^2/x.js` is refused",
            ),
            (
                "Could not find npm package 'a' matching '^2'.",
                "`npm:a@^2/x.js`: no release",
            ),
            (
                "npm package 'b' does not exist.",
                "`b`, which an imported package needs, cannot",
            ),
            (
                "Failed caching npm package 'a@2.0.0'; Tarball checksum did not match",
                "cannot be installed",
            ),
        ] {
            match complaint(std::slice::from_ref(&import), error).expect("a complaint") {
                BuildFailure::Rejected(rejection) => {
                    assert!(
                        rejection.error.message.contains(expected),
                        "{}",
                        rejection.error.message
                    );
                }
                BuildFailure::Host(failed) => panic!("{failed}"),
            }
        }
        let down = complaint(
            std::slice::from_ref(&import),
            "Failed loading x for package \"a\"; Connection refused",
        )
        .expect("a complaint");
        assert!(
            matches!(down, BuildFailure::Host(failed) if failed.to_string().contains("`npm:a@^2/x.js`"))
        );
        let other = complaint(std::slice::from_ref(&import), "Could not resolve './x'");
        assert!(other.is_none());
    }
}
