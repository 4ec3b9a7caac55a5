//! `multipart/form-data` bodies (RFC 7578): fields as text, files by name and type. The content of
//! files stays in `bodyRaw`.

use std::borrow::Cow;

use serde::Serialize;

use super::fields::Fields;

/// The value of one part.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Part<'a> {
    Field(Cow<'a, str>),
    File {
        filename: Cow<'a, str>,
        mimetype: Cow<'a, str>,
        #[serde(skip)]
        content: &'a [u8],
    },
}

/// The fields of the body; `None` if it does not match its type.
pub(super) fn parse<'a>(content_type: &str, body: &'a [u8]) -> Option<Fields<'a, Part<'a>>> {
    let boundary = parameter(content_type, "boundary")?;
    let delimiter = format!("\r\n--{boundary}");
    // The first delimiter may stand at the very beginning, without a line break before it.
    let mut rest = match body.strip_prefix(&delimiter.as_bytes()[2..]) {
        Some(rest) => rest,
        None => split(body, delimiter.as_bytes())?.1,
    };
    let mut parts = Vec::new();
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let (part, next) = split(part, delimiter.as_bytes())?;
        parts.extend(field(part));
        rest = next;
    }
    rest.starts_with(b"--").then(|| parts.into_iter().collect())
}

fn split<'a>(bytes: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let mut windows = bytes.windows(separator.len());
    let position = windows.position(|window| window == separator)?;
    Some((&bytes[..position], &bytes[position + separator.len()..]))
}

/// Name and value of one part, unless it has no name.
fn field(part: &[u8]) -> Option<(Cow<'_, str>, Part<'_>)> {
    let (head, content) = split(part, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(head);
    let line = |wanted: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.find_map(|(name, value)| {
            name.trim()
                .eq_ignore_ascii_case(wanted)
                .then(|| value.trim())
        })
    };
    let disposition = line("content-disposition")?;
    let name = parameter(disposition, "name")?;
    let value = match parameter(disposition, "filename") {
        Some(filename) => Part::File {
            filename: filename.into(),
            mimetype: line("content-type")
                .unwrap_or("application/octet-stream")
                .to_owned()
                .into(),
            content,
        },
        None => Part::Field(String::from_utf8_lossy(content)),
    };
    Some((name.into(), value))
}

/// A parameter of a header's value, quoted or not.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (text, next) = match after.trim_start().strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (text, next) = after.split_once(';').unwrap_or((after, ""));
                (text.trim().to_owned(), next)
            }
        };
        if name
            .trim_matches([' ', '\t', ';'])
            .eq_ignore_ascii_case(wanted)
        {
            return Some(text);
        }
        rest = next;
    }
}

/// The text up to the closing quote, and the rest.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut unescaped = String::new();
    let mut characters = text.char_indices();
    while let Some((position, character)) = characters.next() {
        match character {
            '"' => return Some((unescaped, &text[position + 1..])),
            '\\' => unescaped.extend(characters.next().map(|(_, escaped)| escaped)),
            character => unescaped.push(character),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=\"x y\"";

    fn shown(body: &str) -> Option<String> {
        let body = body.replace('\n', "\r\n");
        let fields = parse(TYPE, body.as_bytes())?;
        Some(serde_json::to_string(&fields).unwrap())
    }

    #[test]
    fn fields_are_text_and_files_are_named() {
        let body = "--x y\nContent-Disposition: form-data; name=\"a\"\n\n1\n2\n\
                    --x y\ncontent-disposition: form-data; filename=\"f \\\"1\\\".png\"; name=b\nContent-Type: image/png\n\n\0\n\
                    --x y\nContent-Disposition: form-data; name=\"a\"\n\n\n--x y--\n";
        let expected =
            r#"{"a":["1\r\n2",""],"b":{"filename":"f \"1\".png","mimetype":"image/png"}}"#;
        assert_eq!(shown(body).as_deref(), Some(expected));
        assert_eq!(
            shown(&format!("preamble\n{body}epilogue")).as_deref(),
            Some(expected)
        );
    }

    #[test]
    fn a_body_that_does_not_end_is_none() {
        for body in [
            "",
            "--x y",
            "--x y\n",
            "--x y\nContent-Disposition: form-data; name=a\n\n1",
            "--other--",
        ] {
            assert_eq!(shown(body), None, "{body:?}");
        }
        assert_eq!(shown("--x y--").as_deref(), Some("{}"));
        assert!(parse("multipart/form-data", b"--x--").is_none());
    }
}
