//! The only writer of standard output and standard error. Standard output carries data and nothing
//! else, so that it can be piped; all notes to the person go to standard error.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::display;
use crate::waiting;

/// Writes data: the text and a line feed.
pub(crate) fn data(text: &str) -> Result<()> {
    waiting::clear();
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")
        .and_then(|()| stdout.flush())
        .context("cannot write to standard output")
}

/// Writes data as indented JSON.
pub(crate) fn json(value: &Value) -> Result<()> {
    data(&serde_json::to_string_pretty(value)?)
}

/// Writes data as JSON on one line, for streams.
pub(crate) fn json_line(value: &Value) -> Result<()> {
    data(&serde_json::to_string(value)?)
}

/// Prints a note of whole sentences, which a terminal shows without breaking words.
pub(crate) fn tell(text: &str) {
    match display::width_of(&io::stderr()) {
        Some(width) => note(&wrapped(text, width.into())),
        None => note(text),
    }
}

/// The text with line breaks between words. Indented lines, such as those of code, stay as they are.
fn wrapped(text: &str, width: usize) -> String {
    let lines = text
        .split('\n')
        .map(|line| match line.starts_with([' ', '\t']) {
            true => line.to_owned(),
            false => wrapped_line(line, width),
        });
    lines.collect::<Vec<_>>().join("\n")
}

fn wrapped_line(line: &str, width: usize) -> String {
    let mut text = String::new();
    let mut room = width;
    for (at, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
        if at > 0 && length < room {
            text.push(' ');
            room -= 1;
        } else if at > 0 {
            text.push('\n');
            room = width;
        }
        text.push_str(word);
        room = room.saturating_sub(length);
    }
    text
}

/// Prints a note to the person. A closed standard error is not a reason to fail.
pub(crate) fn note(text: &str) {
    waiting::clear();
    let _ = writeln!(io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_code_stays_as_it_is() {
        let text = "error: the feed is at https://example.com/feed.xml\n    at run (a.mjs:1:1)";
        assert_eq!(
            wrapped(text, 16),
            "error: the feed\nis at\nhttps://example.com/feed.xml\n    at run (a.mjs:1:1)"
        );
        assert_eq!(wrapped("a b", 80), "a b");
    }
}
