//! A fault of written code that keeps it from being parsed, shown at its place in the code.

use headwater_model::outcome::ComponentError;
use maud::{Markup, html};

use crate::part::{
    excerpt,
    icon::{Icon, icon},
    text,
};

/// Lines that are shown above and below the fault.
const AROUND: usize = 2;

/// The fault: the parser's words, and line and column, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    message: String,
    line: usize,
    column: usize,
}

impl Fault {
    /// The fault that an error tells, if it is one of the written file itself: a line of words, then an excerpt, then
    /// `at component.mjs:LINE:COLUMN`.
    pub(super) fn of(error: &ComponentError) -> Option<Self> {
        let message = error.message.lines().next()?;
        let (_, place) = error.message.rsplit_once(" at ")?;
        let (file, place) = place.trim().split_once(':')?;
        let (line, column) = place.split_once(':')?;
        let is_own = error.name == "SyntaxError" && file.starts_with("component.");
        is_own.then_some(())?;
        Some(Self {
            message: message.to_owned(),
            line: line.parse().ok()?,
            column: column.parse().ok()?,
        })
    }

    /// The fault above the editor, which marks its place, too.
    pub(super) fn markup(&self, code: &str, title: &str) -> Markup {
        html! {
            section.summary-of-errors role="alert" tabindex="-1" #errors data-fault-line=(self.line) data-fault-column=(self.column) {
                h2 { (icon(Icon::Failed)) "Line " (self.line) ", column " (self.column) ": " (text::value(&self.message)) }
                pre tabindex="0" { (text::value(&excerpt::around(code, (self.line, self.column), AROUND))) }
                p { (title) "." }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str, message: &str) -> ComponentError {
        ComponentError {
            name: name.to_owned(),
            message: message.to_owned(),
            stack: String::new(),
            code: None,
            status: None,
        }
    }

    #[test]
    fn the_place_of_a_fault_is_marked_in_the_code() {
        let told = "Expected ';'\n  |\n2 |  ab cd\n  |    ~\n    at component.mjs:2:4";
        let fault = Fault::of(&error("SyntaxError", told)).unwrap();
        assert_eq!(
            (&*fault.message, fault.line, fault.column),
            ("Expected ';'", 2, 4)
        );
        assert_eq!(
            excerpt::around(
                "one\n\tab cd\nthree\nfour\nfive",
                (fault.line, fault.column),
                AROUND
            ),
            "1 | one\n2 | \tab cd\n  | \t  ^\n3 | three\n4 | four"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_fault() {
        let told = "Expected ';'\n    at component.mjs:1:5001";
        let fault = Fault::of(&error("SyntaxError", told)).unwrap();
        let code = format!("{}X{}", "a".repeat(5_000), "b".repeat(5_000));
        let excerpt = excerpt::around(&code, (fault.line, fault.column), AROUND);
        let (line, mark) = excerpt.split_once('\n').unwrap();
        assert!(excerpt.len() < 400, "{excerpt}");
        let at = mark.chars().position(|char| char == '^');
        assert_eq!(line.chars().position(|char| char == 'X'), at);
    }

    #[test]
    fn faults_elsewhere_are_none_of_the_written_code() {
        for (name, message) in [
            (
                "SyntaxError",
                "Expected ';'\n    at https://example.com/a.mjs:2:4",
            ),
            ("SyntaxError", "Expected ';'"),
            ("TypeError", "no\n    at component.mjs:2:4"),
        ] {
            assert_eq!(Fault::of(&error(name, message)), None, "{message}");
        }
    }
}
