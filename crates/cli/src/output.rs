//! The only writer of standard output and standard error. Standard output carries data and nothing
//! else, so that it can be piped; all notes to the person go to standard error.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::display;
use crate::paint;
use crate::waiting;
use crate::wrap;

/// Writes data: the text and a line feed.
pub(crate) fn data(text: &str) -> Result<()> {
    let _cleared = waiting::clear();
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

/// Writes data as a report of paragraphs and lists, which a terminal shows without breaking words.
pub(crate) fn report(text: &str) -> Result<()> {
    let display = display::current();
    match display.width.filter(|_| display.is_overview()) {
        Some(width) => data(&wrap::report(text, width.into())),
        None => data(text),
    }
}

/// Prints a note of whole sentences, which a terminal shows without breaking words.
pub(crate) fn tell(text: &str) {
    match display::width_of(&io::stderr()) {
        Some(width) => note(&wrap::message(text, width.into())),
        None => note(text),
    }
}

/// Prints a note to a program: JSON on one line.
pub(crate) fn json_note(value: &Value) {
    note(&value.to_string());
}

/// Prints a note to the person. A closed standard error is not a reason to fail.
pub(crate) fn note(text: &str) {
    let _cleared = waiting::clear();
    let mut stderr = io::stderr().lock();
    let text = paint::note(text, display::has_colour(&stderr));
    let _ = writeln!(stderr, "{text}");
}
