//! Failures of the machine that affect a component: the message for its author, which names the scarce resource and
//! no path. The details go to the node's log.

use std::io;

const DISK_FULL: &str =
    "the disk that the node's data folder is on is full; free some space and try again";
const BUNDLER_LOST: &str = "the bundler does not start; see the node's log, and try again";
const NO_MEMORY: &str = "the machine has no memory left; try again in a moment";

/// Error texts of programs, and their meaning.
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
    ("(os error 12)", NO_MEMORY),
    (
        "failed to create new OS thread",
        "the machine has no room for another thread; try again in a moment",
    ),
    ("esbuild binary", BUNDLER_LOST),
    ("failed to start esbuild", BUNDLER_LOST),
    ("failed to send build request to esbuild", BUNDLER_LOST),
    ("esbuild package tarball", BUNDLER_LOST),
];
/// The bundler's texts about failed allocations: the machine is out of memory, or the input needs more than the limit.
const OUT_OF_MEMORY: &[&str] = &["runtime: out of memory", "runtime: cannot allocate memory"];
/// The marks of lines in which the bundler shows source.
const FRAME: &[char] = &['│', '╵'];
/// The marks under a line of source that Deno shows.
const UNDERLINE: &[char] = &['~', '^'];
const QUOTES: &[char] = &['"', '\'', '`'];

/// The failure of the machine that a program's output reports, if it does.
pub(crate) fn detect(stderr: &str) -> Option<&'static str> {
    let own = own_text(stderr);
    let known = SIGNS.iter().find(|(sign, _)| own.contains(sign));
    known.map(|(_, reason)| *reason)
}

/// The failure that the bundler's output reports, if it ran out of memory.
pub(crate) fn out_of_memory(stderr: &str) -> Option<&'static str> {
    let own = own_text(stderr);
    let found = OUT_OF_MEMORY.iter().any(|sign| own.contains(sign));
    found.then_some(NO_MEMORY)
}

/// A program's own output, without the parts that it only quotes: lines of source and text between quotes, which the
/// author of a component controls.
pub(crate) fn own_text(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_underlined = |at: usize| lines.get(at + 1).is_some_and(|next| is_underline(next));
    let own = lines.iter().enumerate().filter(|(at, line)| {
        !line.contains(FRAME) && !is_numbered(line) && !is_underline(line) && !is_underlined(*at)
    });
    own.map(|(_, line)| format!("{}\n", without_quotes(line)))
        .collect()
}

/// Whether a line is one of source with its number: `  12 | code`.
fn is_numbered(line: &str) -> bool {
    let rest = line
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.trim_start().len() && rest.trim_start().starts_with('|')
}

fn is_underline(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && line.chars().all(|c| UNDERLINE.contains(&c))
}

/// The line without the text between the first and the last quote of a kind: a quotation may contain quotes, too.
fn without_quotes(line: &str) -> String {
    let mut line = line.to_owned();
    for quote in QUOTES {
        let places: Vec<usize> = line
            .match_indices(*quote)
            .map(|(at, _)| at)
            .filter(|&at| !is_apostrophe(&line, at))
            .collect();
        if let (Some(&first), Some(&last)) = (places.first(), places.last())
            && first < last
        {
            line.replace_range(first..=last, "");
        }
    }
    line
}

/// Whether the mark is inside a word, as in `can't`.
fn is_apostrophe(line: &str, at: usize) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
    is_letter(line[..at].chars().next_back()) && is_letter(line[at + 1..].chars().next())
}

/// The meaning of a failure in the cache folder.
pub(crate) fn in_cache(error: &io::Error) -> String {
    detect(&error.to_string()).map_or_else(
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

    use super::{detect, in_cache};

    #[test]
    fn what_is_short_is_named_and_where_is_not() {
        let full = io::Error::from_raw_os_error(28);
        let copying = format!("failed to copy esbuild binary from '/data/a' to '/data/b': {full}");
        for told in [detect(&copying).unwrap().to_owned(), in_cache(&full)] {
            assert!(told.contains("disk") && told.contains("full"), "{told}");
            assert!(!told.contains("/data"), "{told}");
        }
        let denied = in_cache(&io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(denied.contains("permission denied"), "{denied}");
        let bundler = detect("failed to copy esbuild binary from '/a': No such file (os error 2)");
        assert!(bundler.unwrap().contains("bundler"));
        assert_eq!(
            detect("Expected ';' but found '}' at component.mjs:1:2"),
            None
        );
    }

    #[test]
    fn words_of_a_component_are_not_the_machines() {
        for quoting in [
            "✘ [ERROR] Expected \";\"\n\n    a.mjs:1:36:\n      1 │ no space left on device\n        ╵ (os error 28)",
            "error: it is not code at file:///a.mjs:1:5\n\n  no space left on device (os error 28)\n     ~~~~",
            "  12 | throw new Error(no space left on device)\n     |  ^",
            "error: Could not resolve 'npm:no space left on device'\n    at file:///a.mjs:1:8",
            "error: Could not resolve 'it's 'no space left on device' (os error 28)'",
            "error: No matching export in \"a\" for import \"(os error 28)\"",
        ] {
            assert_eq!(detect(quoting), None, "{quoting}");
        }
        for own in [
            "✘ [ERROR] Failed to write to output file: write /data/a: no space left on device",
            "error: it couldn't write 'a'\n\nCaused by:\n    No space left on device (os error 28)",
            "runtime: failed to create new OS thread (have 2 already; errno=11)",
        ] {
            assert!(detect(own).is_some(), "{own}");
        }
    }
}
