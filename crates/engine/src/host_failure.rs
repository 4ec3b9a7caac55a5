//! Failures of the machine that a component gets in touch with: what is told of them, which names the thing
//! that is short and no path. The rest is for the log of whoever runs the node.

use std::io;

const DISK_FULL: &str =
    "the disk that the node's data folder is on is full; free some space and try again";
const BUNDLER_LOST: &str = "the bundler does not start; see the node's log, and try again";

/// How programs tell of it, and what it means.
const SIGNS: &[(&str, &str)] = &[
    ("(os error 28)", DISK_FULL),
    ("no space left on device", DISK_FULL),
    ("No space left on device", DISK_FULL),
    ("(os error 122)", DISK_FULL),
    ("(os error 30)", "the node's disk is read-only"),
    (
        "(os error 24)",
        "the node has too many files open; try again in a moment",
    ),
    (
        "(os error 23)",
        "the machine has too many files open; try again in a moment",
    ),
    (
        "(os error 12)",
        "the machine has no memory left; try again in a moment",
    ),
    ("esbuild binary", BUNDLER_LOST),
    ("failed to start esbuild", BUNDLER_LOST),
    ("esbuild package tarball", BUNDLER_LOST),
];

/// The meaning of a program's last words, if it is the machine that failed.
pub(crate) fn told_by(stderr: &str) -> Option<&'static str> {
    let known = SIGNS.iter().find(|(sign, _)| stderr.contains(sign));
    known.map(|(_, reason)| *reason)
}

/// The meaning of a failure in the cache folder.
pub(crate) fn in_cache(error: &io::Error) -> String {
    told_by(&error.to_string()).map_or_else(
        || {
            format!(
                "the node cannot use its cache folder ({}); see its log",
                error.kind()
            )
        },
        str::to_owned,
    )
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{in_cache, told_by};

    #[test]
    fn what_is_short_is_named_and_where_is_not() {
        let full = io::Error::from_raw_os_error(28);
        let copying = format!("failed to copy esbuild binary from '/data/a' to '/data/b': {full}");
        for told in [told_by(&copying).unwrap().to_owned(), in_cache(&full)] {
            assert!(told.contains("disk") && told.contains("full"), "{told}");
            assert!(!told.contains("/data"), "{told}");
        }
        let denied = in_cache(&io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(denied.contains("permission denied"), "{denied}");
        let bundler = told_by("failed to copy esbuild binary from '/a': No such file (os error 2)");
        assert!(bundler.unwrap().contains("bundler"));
        assert_eq!(
            told_by("Expected ';' but found '}' at component.mjs:1:2"),
            None
        );
    }
}
