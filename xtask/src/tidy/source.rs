//! Just enough of Rust's syntax to tell a file's test lines from its production lines: where
//! comments and literals are, and which braces belong together. Parses nothing else.

/// The lines, counted from 0, of every `#[cfg(test)]` item.
pub(super) fn test_lines(text: &str) -> Vec<std::ops::Range<usize>> {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let code = masked(text);
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find(ATTRIBUTE) {
        let start = from + found;
        let end = item_end(code.as_bytes(), start + ATTRIBUTE.len());
        let line = |at: usize| {
            code.as_bytes()[..at]
                .iter()
                .filter(|b| **b == b'\n')
                .count()
        };
        ranges.push(line(start)..line(end) + 1);
        from = end;
    }
    ranges
}

/// Where the item that starts at `at` ends: its closing brace, or the semicolon of one without.
fn item_end(code: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code[at..].iter().enumerate() {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *byte == b'}' {
                    return at + offset;
                }
            }
            b';' if depth == 0 => return at + offset,
            _ => {}
        }
    }
    code.len()
}

/// The text with comments and literals blanked out; lengths and line breaks stay.
pub(super) fn masked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut masked = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = token_end(bytes, at);
        if end > at + 1 {
            for byte in &mut masked[at..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&masked).into_owned()
}

/// The end of the comment or literal at `at`, or of the single byte there.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let length = match rest {
        [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n'),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => quoted(rest),
        [b'\'', ..] => Some(character(rest)),
        [b'r', b'"' | b'#', ..] if !continues_word(bytes, at) => raw_string(rest).or(Some(1)),
        _ => Some(1),
    };
    at + length.unwrap_or(rest.len())
}

/// `r` may end a word or follow the `b` or `c` of a byte or C string.
fn continues_word(bytes: &[u8], at: usize) -> bool {
    let is_word = |at: usize| bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_';
    match at {
        0 => false,
        1 => is_word(0) && !matches!(bytes[0], b'b' | b'c'),
        _ => is_word(at - 1) && (is_word(at - 2) || !matches!(bytes[at - 1], b'b' | b'c')),
    }
}

fn block_comment(rest: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn quoted(rest: &[u8]) -> Option<usize> {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// A character literal, or only the quote of a lifetime.
fn character(rest: &[u8]) -> usize {
    let close = |from: usize| {
        rest.iter()
            .skip(from)
            .position(|b| *b == b'\'')
            .map(|at| from + at)
    };
    match rest.get(1) {
        Some(b'\\') => close(3).map_or(1, |at| at + 1),
        Some(first) => {
            let width = match first {
                0..0x80 => 1,
                0x80..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
            if rest.get(1 + width) == Some(&b'\'') {
                width + 2
            } else {
                1
            }
        }
        None => 1,
    }
}

fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|b| **b == b'#').count();
    let open = 1 + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"')
        .chain(std::iter::repeat_n(b'#', hashes))
        .collect();
    let body = open + 1;
    let found = rest[body..]
        .windows(close.len())
        .position(|window| window == close);
    Some(found.map_or(rest.len(), |at| body + at + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, usize)> {
        let ranges = test_lines(text).into_iter();
        ranges.map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn comments_and_literals_are_blanked_and_nothing_else() {
        for (text, expected) in [
            ("a // {\nb", "a     \nb"),
            ("a /* { /* } */ { */ b", "a                   b"),
            (r#"f("{ \" }")"#, "f(        )"),
            (r##"f(r#"{"#)"##, "f(      )"),
            (r##"f(br#"{"#)"##, "f(b      )"),
            ("let c = '{';", "let c =    ;"),
            (r"let c = '\'';", "let c =     ;"),
            ("let c = 'ß';", "let c =     ;"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("let r#type = for_r;", "let r#type = for_r;"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn test_items_are_found_to_their_closing_brace() {
        let text = "fn a() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n  const B: &str = \"}\";\n}\nfn c() {}\n";
        assert_eq!(found(text), [(1, 6)]);
    }

    #[test]
    fn a_test_module_in_a_file_of_its_own_is_one_declaration() {
        assert_eq!(found("#[cfg(test)]\nmod testing;\nfn a() { }\n"), [(0, 2)]);
    }

    #[test]
    fn an_attribute_within_text_is_no_test() {
        assert!(test_lines("const A: &str = \"#[cfg(test)]\";\n// #[cfg(test)]\n").is_empty());
    }
}
