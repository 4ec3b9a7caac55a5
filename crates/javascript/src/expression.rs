//! Whether a text is one expression, as far as its tokens tell.

use crate::{
    position::line_and_column,
    scanner::{Kind, Scanner, Token},
    unreadable::Unreadable,
};

/// Keywords that begin a statement.
const STATEMENTS: [&str; 19] = [
    "break", "case", "const", "continue", "debugger", "do", "export", "for", "if", "let", "return",
    "switch", "throw", "try", "var", "while", "with", "catch", "else",
];
/// Words that may stand before another word or a literal.
const BEFORE_OPERAND: [&str; 14] = [
    "async",
    "await",
    "class",
    "delete",
    "extends",
    "function",
    "get",
    "in",
    "instanceof",
    "new",
    "of",
    "typeof",
    "void",
    "yield",
];
/// Words that may stand behind an operand.
const BEHIND_OPERAND: [&str; 3] = ["extends", "in", "instanceof"];

/// The text is not one expression. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column} of the expression)")]
pub struct InvalidExpression {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
    /// The reason.
    pub message: String,
}

impl InvalidExpression {
    fn new(text: &str, at: usize, message: impl Into<String>) -> Self {
        let (line, column) = line_and_column(text, at);
        Self {
            line,
            column,
            message: message.into(),
        }
    }
}

/// Whether there is nothing but space and comments.
pub fn is_empty(text: &str) -> bool {
    matches!(Scanner::new(text).token(), Ok(None))
}

/// Checks that a text is one expression: its literals and brackets are closed, it is not a statement, and it does not
/// stop in the middle. Nothing at all is good, too.
///
/// # Errors
/// The first place where it is not.
pub fn check(text: &str) -> Result<(), InvalidExpression> {
    let invalid = |at, message| Err(InvalidExpression::new(text, at, message));
    let mut scanner = Scanner::new(text);
    let mut last = None;
    loop {
        let token = match scanner.token() {
            Ok(Some(token)) => token,
            Ok(None) => break,
            Err(Unreadable { at, fault }) => return invalid(at, fault.to_string()),
        };
        if token.depth > 0 {
            continue;
        }
        if let Some(message) = fault(last, token) {
            return invalid(token.start, message);
        }
        last = Some(token);
    }
    match last {
        Some(token) if token.kind == Kind::Mark && !ends_operand(token) => {
            invalid(token.start, format!("nothing follows `{}`", token.text))
        }
        _ => Ok(()),
    }
}

/// The reason why a token cannot follow another one. Both are outside of all brackets.
fn fault(last: Option<Token<'_>>, token: Token<'_>) -> Option<String> {
    let text = token.text;
    if text == ";" {
        return Some("`;` ends a statement; write one expression".to_owned());
    }
    let Some(last) = last else {
        let is_statement = token.kind == Kind::Word && STATEMENTS.contains(&text);
        return is_statement
            .then(|| format!("`{text}` begins a statement; write an expression that has a value"));
    };
    let begins_operand = match token.kind {
        Kind::Word => !BEHIND_OPERAND.contains(&text),
        // A template may have a tag before it, and goes on behind its expressions.
        Kind::Literal => !text.starts_with(['`', '}']),
        Kind::Mark => false,
    };
    // `++` and `--` may belong to either side.
    let is_step = matches!(last.text, "++" | "--");
    let is_apart = begins_operand && ends_operand(last) && !is_step;
    is_apart.then(|| format!("`{text}` follows `{}` without an operator", last.text))
}

/// Whether a value may end with this token, and another one cannot begin behind it.
fn ends_operand(token: Token<'_>) -> bool {
    match token.kind {
        Kind::Word => !BEFORE_OPERAND.contains(&token.text),
        Kind::Literal => !token.text.ends_with("${"),
        Kind::Mark => matches!(token.text, ")" | "]" | "}" | "++" | "--"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_expression_is_good() {
        for text in [
            "",
            " /* nothing */ ",
            "steps.a.$return_value?.b[0]",
            "a ? b : c",
            "{a: 1, b: [2]}",
            "(() => { const a = 1; return a; })()",
            "async x => await x",
            "async function f(a) { return a; }",
            "await steps.a.b",
            "new Date()",
            "new (class A extends B {})()",
            "typeof a",
            "'a' in b",
            "`a${b}` + tag`c${d}e`",
            "a instanceof B",
            "a\n// more\n",
            "i++",
            "++i + --j",
            "import('a')",
            "a?.if ?? b?.['c']",
            "function* () {}",
            "x => ({ x })",
            "void 0, 1e-5",
            ".5 + 1.5",
            "a.return / 2",
            "/a b/.test(c) && !/d/i.test(e)",
            "x => x",
            "a.let",
            "-1",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_its_place() {
        for (text, place, message) in [
            ("a; b", (1, 2), "`;` ends a statement; write one expression"),
            (
                "return a",
                (1, 1),
                "`return` begins a statement; write an expression that has a value",
            ),
            ("a\n  b", (2, 3), "`b` follows `a` without an operator"),
            ("f(a) 'b'", (1, 6), "`'b'` follows `)` without an operator"),
            ("(a", (1, 1), "`(` is not closed"),
            ("f(\n[)", (2, 2), "`)` closes nothing"),
            ("ü + 'b", (1, 5), "a string is not closed"),
            ("a +", (1, 3), "nothing follows `+`"),
            ("a.", (1, 2), "nothing follows `.`"),
        ] {
            let found = check(text).unwrap_err();
            assert_eq!((found.line, found.column), place, "{text}");
            assert_eq!(found.message, message, "{text}");
        }
    }

    #[test]
    fn the_error_names_line_and_column() {
        assert_eq!(
            check("a b").unwrap_err().to_string(),
            "`b` follows `a` without an operator (line 1, column 3 of the expression)"
        );
    }

    #[test]
    fn space_and_comments_are_nothing() {
        for (text, expected) in [
            ("", true),
            (" // a", true),
            ("/* a */\n", true),
            ("0", false),
            ("(", false),
        ] {
            assert_eq!(is_empty(text), expected, "{text}");
        }
    }
}
