//! Facts about a text without parsing it: the modules that it requires, and whether it is a CommonJS module. Deno's
//! graph answers everything else; it knows nothing of `require`.

/// The literal specifiers of `require("…")` calls, comments and strings apart: of the `require` that CommonJS
/// modules have, or of those that a module of the new kind made by `createRequire`.
pub(super) fn required_specifiers(code: &str) -> Vec<String> {
    let words = tokens(code);
    let names = if is_common_js(code) {
        vec!["require"]
    } else {
        created_requires(&words)
    };
    let calls = words.windows(4).filter_map(|window| match window {
        [
            before,
            Token::Word(name),
            Token::Mark('('),
            Token::Text(text),
        ] if *before != Token::Mark('.') && names.contains(name) => Some((*text).to_owned()),
        _ => None,
    });
    let mut found: Vec<String> = Vec::new();
    for specifier in calls {
        if !found.contains(&specifier) {
            found.push(specifier);
        }
    }
    found
}

/// The names of what `createRequire` returned.
fn created_requires<'a>(words: &[Token<'a>]) -> Vec<&'a str> {
    let plain = words.windows(4).filter_map(|window| match window {
        [
            Token::Word(name),
            Token::Mark('='),
            Token::Word("createRequire"),
            Token::Mark('('),
        ] => Some(*name),
        _ => None,
    });
    let of_module = words.windows(6).filter_map(|window| match window {
        [
            Token::Word(name),
            Token::Mark('='),
            Token::Word(_),
            Token::Mark('.'),
            Token::Word("createRequire"),
            Token::Mark('('),
        ] => Some(*name),
        _ => None,
    });
    plain.chain(of_module).collect()
}

/// Tells whether a function of the text loads an addon of native code, outside of any `try`: the package then
/// loads without it and fails when it is used.
pub(super) fn loads_addon_when_called(code: &str) -> bool {
    // For each open brace whether it began a `try`.
    let mut blocks = Vec::new();
    tokens(code).windows(2).any(|window| {
        let [before, token] = window else {
            return false;
        };
        match token {
            Token::Mark('{') => blocks.push(*before == Token::Word("try")),
            Token::Mark('}') => {
                blocks.pop();
            }
            Token::Text(text) if names_addon(text) => {
                return !blocks.is_empty() && !blocks.contains(&true);
            }
            _ => {}
        }
        false
    })
}

fn names_addon(text: &str) -> bool {
    text.ends_with(".node") || matches!(text, "bindings" | "node-gyp-build")
}

/// Tells whether the text is a CommonJS module: it exports or requires the old way, without import or export statements.
pub(super) fn is_common_js(code: &str) -> bool {
    let tokens = tokens(code);
    let old = tokens.windows(3).any(|window| match window {
        [
            Token::Word("module"),
            Token::Mark('.'),
            Token::Word("exports"),
        ] => true,
        [before, Token::Word("exports"), Token::Mark('.' | '[')] => *before != Token::Mark('.'),
        [before, Token::Word("require"), Token::Mark('(')] => *before != Token::Mark('.'),
        _ => false,
    });
    old && !tokens.windows(3).any(is_module_statement)
}

/// Tells whether the text looks like a component that can be published: it exports something as a whole and
/// writes out a `key` and a `version`.
pub(super) fn names_component(code: &str) -> bool {
    let tokens = tokens(code);
    let given = |property: &str| {
        tokens.windows(3).any(|window| match window {
            [
                Token::Word(name) | Token::Text(name),
                Token::Mark(':'),
                Token::Text(_),
            ] => *name == property,
            _ => false,
        })
    };
    let exported = tokens.windows(3).any(|window| {
        matches!(
            window,
            [_, Token::Word("export" | "as"), Token::Word("default")]
                | [
                    Token::Word("module"),
                    Token::Mark('.'),
                    Token::Word("exports")
                ]
        )
    });
    exported && given("key") && given("version")
}

fn is_module_statement(window: &[Token<'_>]) -> bool {
    let [before, Token::Word(word), after] = window else {
        return false;
    };
    // `import(…)` is a call and `import.meta` an expression; `x.export` and `{ export: 1 }` are names.
    let statement = match *word {
        "import" => !matches!(after, Token::Mark('(' | '.' | ':' | '=' | ',' | '}' | ')')),
        "export" => !matches!(after, Token::Mark('(' | '.' | ':' | '=' | ',' | '}' | ')')),
        _ => false,
    };
    statement && *before != Token::Mark('.')
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    /// The inside of a string literal.
    Text(&'a str),
    Mark(char),
}

/// Words, strings and marks in order, white space and comments left out, beginning with a mark that
/// no code has, so that every token has one before it. Regular expressions are not recognised: a
/// quote inside one hides the rest of its line at most.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = vec![Token::Mark('\0')];
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
        } else if matches!(first, '"' | '\'' | '`') {
            let (text, after) = literal(rest, first);
            tokens.push(Token::Text(text));
            rest = after;
        } else if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..end]));
            rest = &rest[end..];
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Mark(first));
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    tokens
}

/// The inside of the literal that `code` begins with, and what follows it.
fn literal(code: &str, quote: char) -> (&str, &str) {
    let inside = &code[1..];
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' if quote != '`' => return (&inside[..at], &inside[at..]),
            c if c == quote => return (&inside[..at], &inside[at + 1..]),
            _ => {}
        }
    }
    (inside, "")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::{is_common_js, loads_addon_when_called, names_component, required_specifiers};

    #[test]
    fn literal_requires_are_found_and_comments_are_not() {
        let code = r#"
            const axios = require("axios@^0.20"), { join } = require( 'path' );
            // require("commented")
            /* require("out") */
            const text = "require('quoted')"; loader.require("method");
            const again = require("axios@^0.20"); require(name); require(`node:fs`);
            module.exports = {};
        "#;
        assert_eq!(
            required_specifiers(code),
            ["axios@^0.20", "path", "node:fs"]
        );
    }

    #[test]
    fn what_create_require_made_requires_too() {
        let code = r#"
            import { createRequire } from "node:module"; import module from "module";
            const require = createRequire(import.meta.url), load = module.createRequire(import.meta.url);
            require("a@1"); load("b/c.json"); other("d");
        "#;
        assert_eq!(required_specifiers(code), ["a@1", "b/c.json"]);
        let bundled = "import a from 'a'; const require = x => x; require('b');";
        assert!(required_specifiers(bundled).is_empty());
    }

    #[test]
    fn addons_that_are_loaded_later_are_told_from_those_that_may_be_missing() {
        for (code, expected) in [
            ("function f() { return require('x.node') }", true),
            ("const f = () => { if (a) { load(`${b}.node`) } }", true),
            ("function f() { return require('bindings')('x') }", true),
            (
                "function f() { try { return require('x.node') } catch {} }",
                false,
            ),
            (
                "module.exports = require('node-gyp-build')(__dirname)",
                false,
            ),
            ("function f() { return 'a.nodes' } // 'x.node'", false),
        ] {
            assert_eq!(loads_addon_when_called(code), expected, "{code}");
        }
    }

    #[test]
    fn a_module_is_common_js_when_it_exports_the_old_way_and_has_no_statements_of_the_new() {
        for (code, expected) in [
            ("module.exports = { run() {} }", true),
            ("exports.run = 1", true),
            (
                "const a = require('a'); module.exports = a; const b = import('b')",
                true,
            ),
            ("export default { run() {} }", false),
            ("import a from 'a'\nmodule.exports = a", false),
            ("import 'a'; import b from 'b'; export { b }", false),
            ("// module.exports = 1\nconst x = 'exports.y'", false),
            ("module.exports = { export: 1, import: 2 }", true),
            ("defineComponent({ run() {} })", false),
        ] {
            assert_eq!(is_common_js(code), expected, "{code}");
        }
    }

    #[test]
    fn a_component_exports_and_writes_out_its_key_and_version() {
        for (code, expected) in [
            (
                "export default { ...common, key: \"a-b\", version: '0.0.1' }",
                true,
            ),
            (
                "module.exports = { \"key\": \"a\", \"version\": \"1\" }",
                true,
            ),
            (
                "const c = { key: `a`, version: `1` }; export { c as default };",
                true,
            ),
            ("export default { key: \"a\" }", false),
            ("export default { version: \"1\", keys: \"a\" }", false),
            (
                "export default { name: 'x' } // key: \"a\", version: \"1\"",
                false,
            ),
            ("export const c = { key: \"a\", version: \"1\" }", false),
        ] {
            assert_eq!(names_component(code), expected, "{code}");
        }
    }
}
