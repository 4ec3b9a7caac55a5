//! Text with expressions in double braces: `Hello {{steps.trigger.event.body.name}}`.
//!
//! Responsible for finding where expressions begin and end. Deliberately not for whether they are good JavaScript
//! ([`crate::expression`]), nor for their values.

use crate::{
    scanner::Scanner,
    unreadable::{Fault, Unreadable},
};

const OPEN: &str = "{{";
const CLOSE: &str = "}}";
/// Scans of one text that may come to nothing. Each can cost the length of the text.
const VAIN_SCANS_MAX: u32 = 100;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text that stands for itself.
    Text(&'a str),
    /// An expression, without its braces and otherwise as it is written.
    Expression(&'a str),
}

/// The parts of a text, in their order. Braces that are not closed are text.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut vain_scans) = (text, 0);
    while let Some(open) = rest.find(OPEN) {
        let inside = &rest[open + OPEN.len()..];
        let Some(end) = end(inside, &mut vain_scans) else {
            break;
        };
        if open > 0 {
            parts.push(Part::Text(&rest[..open]));
        }
        parts.push(Part::Expression(&inside[..end]));
        rest = &inside[end + CLOSE.len()..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

/// The offset of the braces that close an expression.
fn end(text: &str, vain_scans: &mut u32) -> Option<usize> {
    let first = text.find(CLOSE)?;
    if *vain_scans >= VAIN_SCANS_MAX {
        return Some(first);
    }
    match scanned(text) {
        Err(Unreadable {
            at,
            fault: Fault::StrayBracket('}'),
        }) if text[at..].starts_with(CLOSE) => Some(at),
        // It is an expression with a mistake, and better told than taken for text.
        Err(_) => {
            *vain_scans += 1;
            Some(first)
        }
        // The braces are within a string, or behind the `//` of a comment.
        Ok(()) => {
            *vain_scans += 1;
            scanned(&text[..first]).is_ok().then_some(first)
        }
    }
}

fn scanned(text: &str) -> Result<(), Unreadable> {
    let mut scanner = Scanner::new(text);
    while scanner.token()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{
        Part::{Expression, Text},
        *,
    };

    #[test]
    fn an_expression_ends_at_the_braces_that_javascript_leaves_over() {
        for (text, inside) in [
            ("{{a}}", "a"),
            ("{{ {a:{b:1}} }}", " {a:{b:1}} "),
            ("{{{a:{b:1}}}}", "{a:{b:1}}"),
            ("{{`${x}}}`}}", "`${x}}}`"),
            ("{{`a${`b${c}`}`}}", "`a${`b${c}`}`"),
            ("{{/}}/.test(a)}}", "/}}/.test(a)"),
            ("{{a / b}}", "a / b"),
            ("{{'}}' + \"{{\"}}", "'}}' + \"{{\""),
            ("{{a /* }} */}}", "a /* }} */"),
            ("{{a // }}\n}}", "a // }}\n"),
            ("{{[1, (2)].map(x => ({x}))}}", "[1, (2)].map(x => ({x}))"),
            ("{{a.replace(/<.*?>/g,'')}}", "a.replace(/<.*?>/g,'')"),
            ("{{}}", ""),
            ("{{ /* nothing */ }}", " /* nothing */ "),
            ("{{ü}}", "ü"),
        ] {
            assert_eq!(parts(text), [Expression(inside)], "{text}");
        }
    }

    #[test]
    fn text_and_expressions_alternate() {
        assert_eq!(
            parts("x {{ a }} and {{ b }}"),
            [
                Text("x "),
                Expression(" a "),
                Text(" and "),
                Expression(" b ")
            ]
        );
        assert_eq!(
            parts("{{a}}{{b}}}}"),
            [Expression("a"), Expression("b"), Text("}}")]
        );
    }

    #[test]
    fn braces_that_are_not_closed_are_text() {
        for text in ["{{ a", "{ {a} }", "a }}", "{{ a }", "{{ '}}'", "{{"] {
            assert_eq!(parts(text), [Text(text)], "{text}");
        }
        assert_eq!(parts("{{a}} {{"), [Expression("a"), Text(" {{")]);
        assert_eq!(parts(""), []);
    }

    #[test]
    fn an_expression_with_a_mistake_ends_at_the_first_braces() {
        assert_eq!(parts("{{ it's }}!"), [Expression(" it's "), Text("!")]);
        assert_eq!(parts("{{ a) }}"), [Expression(" a) ")]);
        assert_eq!(parts("{{ (a }}"), [Expression(" (a ")]);
        assert_eq!(parts("{{ a // b }}"), [Expression(" a // b ")]);
    }

    #[test]
    fn a_text_of_mistakes_is_read_in_time() {
        let text = "{{ /* }} ".repeat(20_000);
        assert_eq!(parts(&text).len(), 40_000);
    }

    proptest::proptest! {
        #[test]
        fn the_parts_of_a_text_are_the_text(text in "([{}]{1,3}|[a-z(\\[)/*`$'\"\\\\é\n ]){0,30}") {
            let printed: String = parts(&text)
                .iter()
                .map(|part| match part {
                    Text(text) => (*text).to_owned(),
                    Expression(text) => format!("{{{{{text}}}}}"),
                })
                .collect();
            proptest::prop_assert_eq!(printed, text);
        }
    }
}
