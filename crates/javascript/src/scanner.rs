//! JavaScript cut into tokens: as far as is needed to know code from strings, templates, comments and regular
//! expressions, and not further.

use crate::unreadable::{Fault, Unreadable};

/// A part of the text that is neither space nor comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its text as it is written.
    pub text: &'a str,
    /// Its kind.
    pub kind: Kind,
    /// The offset of its first byte.
    pub start: usize,
    /// Brackets around it, those of templates included. A bracket is outside of itself.
    pub depth: usize,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name, a keyword or a number.
    Word,
    /// A string, a regular expression, or a template's text up to its end or its next expression.
    Literal,
    /// Anything else, one character; `++` and `--` are two.
    Mark,
}

impl Token<'_> {
    /// The offset behind its last byte.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Tokens of a text, one after the other.
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The brackets around, with their offsets.
    open: Vec<(Open, usize)>,
    before: Before,
    /// Whether the last token was a dot: the word after it is a name, keyword or not.
    is_after_dot: bool,
    /// Whether the last token was a word with a condition in parentheses after it.
    is_before_condition: bool,
}

/// A bracket that is not closed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Brace,
    Square,
    Parenthesis { has_condition: bool },
    TemplateExpression,
}

/// The end of the text so far, which decides about a slash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A value, after which it divides.
    Operand,
    /// Something after which a value begins.
    Operator,
    /// Either the one or the other.
    Brace,
}

/// Keywords after which a value begins.
const BEFORE_VALUE: [&str; 14] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "delete",
    "void",
    "throw",
    "new",
    "else",
    "do",
    "await",
    "yield",
    "instanceof",
];
/// Keywords with a condition in parentheses, after which a statement begins.
const BEFORE_CONDITION: [&str; 4] = ["if", "while", "for", "with"];

impl Open {
    fn fault(self) -> Fault {
        match self {
            Self::Brace => Fault::OpenBracket('{'),
            Self::Square => Fault::OpenBracket('['),
            Self::Parenthesis { .. } => Fault::OpenBracket('('),
            Self::TemplateExpression => Fault::OpenTemplate,
        }
    }
}

impl<'a> Scanner<'a> {
    /// A scanner of a text, from its beginning.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
            before: Before::Operator,
            is_after_dot: false,
            is_before_condition: false,
        }
    }

    /// The next token; `None` at the end.
    ///
    /// # Errors
    /// A literal, a comment or a bracket is not closed, or none was open.
    pub fn token(&mut self) -> Result<Option<Token<'a>>, Unreadable> {
        self.skip_space()?;
        let (start, depth) = (self.at, self.open.len());
        let Some(first) = self.byte() else {
            return match self.open.last() {
                Some((bracket, at)) => Err(unreadable(*at, bracket.fault())),
                None => Ok(None),
            };
        };
        let is_in_template = matches!(self.open.last(), Some((Open::TemplateExpression, _)));
        let (kind, depth) = match first {
            b'"' | b'\'' => (self.string(first)?, depth),
            b'`' => (self.template()?, depth),
            b'}' if is_in_template => {
                self.open.pop();
                (self.template()?, depth - 1)
            }
            b'/' if self.is_regular_expression() => (self.regular_expression()?, depth),
            first if is_of_word(first) => (self.word(), depth),
            mark => {
                self.mark(mark)?;
                (Kind::Mark, depth.min(self.open.len()))
            }
        };
        Ok(Some(Token {
            text: &self.text[start..self.at],
            kind,
            start,
            depth,
        }))
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) -> Result<(), Unreadable> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/");
                let end = end.ok_or(unreadable(self.at, Fault::OpenComment))?;
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn string(&mut self, quote: u8) -> Result<Kind, Unreadable> {
        let open = unreadable(self.at, Fault::OpenString);
        self.at += 1;
        loop {
            match self.byte().ok_or(open)? {
                b'\\' => self.at += 2,
                b'\n' => return Err(open),
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return Ok(self.literal());
                    }
                }
            }
        }
    }

    /// The text of a template from here to its end or its next expression.
    fn template(&mut self) -> Result<Kind, Unreadable> {
        let open = unreadable(self.at, Fault::OpenTemplate);
        self.at += 1;
        loop {
            match self.byte().ok_or(open)? {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    return Ok(self.literal());
                }
                b'$' if self.rest().starts_with("${") => {
                    self.open.push((Open::TemplateExpression, self.at));
                    self.at += 2;
                    self.followed_by(Before::Operator);
                    return Ok(Kind::Literal);
                }
                _ => self.at += 1,
            }
        }
    }

    fn is_regular_expression(&self) -> bool {
        match self.before {
            Before::Operand => false,
            Before::Operator => true,
            // Bundlers print a division with spaces around it.
            Before::Brace => !self.rest()[1..].starts_with([' ', '=']),
        }
    }

    fn regular_expression(&mut self) -> Result<Kind, Unreadable> {
        let open = unreadable(self.at, Fault::OpenRegularExpression);
        self.at += 1;
        let mut is_in_class = false;
        loop {
            match self.byte().ok_or(open)? {
                b'\\' => self.at += 1,
                b'\n' => return Err(open),
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                b'/' if !is_in_class => break,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        while self.byte().is_some_and(is_of_word) {
            self.at += 1;
        }
        Ok(self.literal())
    }

    fn literal(&mut self) -> Kind {
        self.followed_by(Before::Operand);
        Kind::Literal
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        while self.byte().is_some_and(is_of_word) {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        let is_name = self.is_after_dot;
        self.followed_by(match !is_name && BEFORE_VALUE.contains(&word) {
            true => Before::Operator,
            false => Before::Operand,
        });
        self.is_before_condition = !is_name && BEFORE_CONDITION.contains(&word);
        Kind::Word
    }

    fn mark(&mut self, mark: u8) -> Result<(), Unreadable> {
        let has_condition = self.is_before_condition;
        let rest = self.rest();
        if rest.starts_with("++") || rest.starts_with("--") {
            self.at += 2;
            self.followed_by(Before::Operand);
            return Ok(());
        }
        let before = match mark {
            b'(' => self.opened(Open::Parenthesis { has_condition }),
            b'[' => self.opened(Open::Square),
            b'{' => self.opened(Open::Brace),
            b')' | b']' | b'}' => self.closed(mark)?,
            _ => Before::Operator,
        };
        self.at += 1;
        self.followed_by(before);
        self.is_after_dot = mark == b'.';
        Ok(())
    }

    fn opened(&mut self, bracket: Open) -> Before {
        self.open.push((bracket, self.at));
        Before::Operator
    }

    fn closed(&mut self, mark: u8) -> Result<Before, Unreadable> {
        match (mark, self.open.pop()) {
            (b')', Some((Open::Parenthesis { has_condition }, _))) => Ok(match has_condition {
                true => Before::Operator,
                false => Before::Operand,
            }),
            (b']', Some((Open::Square, _))) => Ok(Before::Operand),
            (b'}', Some((Open::Brace, _))) => Ok(Before::Brace),
            _ => Err(unreadable(self.at, Fault::StrayBracket(char::from(mark)))),
        }
    }

    fn followed_by(&mut self, before: Before) {
        self.before = before;
        self.is_after_dot = false;
        self.is_before_condition = false;
    }
}

fn unreadable(at: usize, fault: Fault) -> Unreadable {
    Unreadable { at, fault }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'\\' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::{Fault, Kind, Scanner, Unreadable};

    fn texts(text: &str) -> Result<Vec<(&str, usize)>, Unreadable> {
        let mut scanner = Scanner::new(text);
        let mut all = Vec::new();
        while let Some(token) = scanner.token()? {
            all.push((token.text, token.depth));
        }
        Ok(all)
    }

    fn literals(text: &str) -> Vec<&str> {
        let mut scanner = Scanner::new(text);
        let tokens = std::iter::from_fn(|| scanner.token().unwrap());
        tokens
            .filter(|token| token.kind == Kind::Literal)
            .map(|token| token.text)
            .collect()
    }

    #[test]
    fn brackets_and_expressions_in_templates_are_deeper() {
        assert_eq!(
            texts("f({ a: `x${b}y` }); // {\nc /* ( */").unwrap(),
            [
                ("f", 0),
                ("(", 0),
                ("{", 1),
                ("a", 2),
                (":", 2),
                ("`x${", 2),
                ("b", 3),
                ("}y`", 2),
                ("}", 1),
                (")", 0),
                (";", 0),
                ("c", 0)
            ]
        );
    }

    #[test]
    fn slashes_divide_after_values_and_begin_regular_expressions_elsewhere() {
        for (text, found) in [
            ("a / b / c", &[][..]),
            ("a = /b/g / c", &["/b/g"]),
            ("f(x) / 2 / y", &[]),
            ("if (x) /re{/.test(y)", &["/re{/"]),
            ("a.if (x) / 2 / y", &[]),
            ("a[0] / 2; return /[/\"]/", &["/[/\"]/"]),
            ("a.return / 2 / b", &[]),
            ("i++ / 2 / b", &[]),
            ("{}\n/a\\/b/.exec(c)", &["/a\\/b/"]),
            ("({}) / 2 / b; ({ } / 2 / b)", &[]),
            ("`${a}` / 2 / b", &["`${", "}`"]),
            ("[/a/, !/b/, x ? /c/ : /d/]", &["/a/", "/b/", "/c/", "/d/"]),
            (
                "'it\\'s /* no */' + \"//\"",
                &["'it\\'s /* no */'", "\"//\""],
            ),
            ("`a${`b${c}`}d\n// e`", &["`a${", "`b${", "}`", "}d\n// e`"]),
        ] {
            assert_eq!(literals(text), found, "{text}");
        }
    }

    #[test]
    fn text_that_does_not_end_well_is_unreadable_and_says_where() {
        for (text, at, fault) in [
            ("(", 0, Fault::OpenBracket('(')),
            ("a[{}", 1, Fault::OpenBracket('[')),
            (")", 0, Fault::StrayBracket(')')),
            ("[}", 1, Fault::StrayBracket('}')),
            ("`a", 0, Fault::OpenTemplate),
            ("`${a", 1, Fault::OpenTemplate),
            ("`${a}", 4, Fault::OpenTemplate),
            ("'a", 0, Fault::OpenString),
            ("b 'a\nb'", 2, Fault::OpenString),
            ("/a", 0, Fault::OpenRegularExpression),
            ("x = /a\nb/", 4, Fault::OpenRegularExpression),
            ("/* a", 0, Fault::OpenComment),
            ("/*/ a", 0, Fault::OpenComment),
            ("\"\\", 0, Fault::OpenString),
        ] {
            assert_eq!(texts(text), Err(Unreadable { at, fault }), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z(){}\\[\\]/*`$'\"\\\\;é\n ]{0,40}") {
            let mut scanner = Scanner::new(&text);
            let mut end = 0;
            while let Ok(Some(token)) = scanner.token() {
                assert!(end <= token.start && token.start < token.end());
                end = token.end();
            }
        }
    }
}
