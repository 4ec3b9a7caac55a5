//! Code to read, and text to copy: command lines, requests, addresses.

use maud::{Markup, html};

use super::{
    icon::{Icon, icon},
    text,
    text::{bytes, cut, is_hidden},
};

/// Characters of code that are shown.
const CODE_CHARS: usize = 200_000;

/// Code to read, with its lines.
pub(crate) fn listing(code: &str) -> Markup {
    let (shown, is_cut) = cut(code, CODE_CHARS);
    html! {
        @if is_cut { p.note { "The beginning of " (bytes(code.len())) "." } }
        pre tabindex="0" { code { (text::visible(shown)) } }
    }
}

/// A line to copy. Without script it can be selected whole.
pub(crate) fn copyable(text: &str) -> Markup {
    html! {
        span.copyable {
            code tabindex="0" { (text::visible(text)) }
            button.quiet type="button" data-copy=(text) hidden aria-label="Copy" title="Copy" { (icon(Icon::Copy)) }
        }
    }
}

/// An argument of a command line, in quotes where it needs them.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./:@%+=,".contains(char);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => enquoted(argument),
    }
}

/// An argument of a command line in single quotes. Characters that a terminal would obey, or that cannot be seen, are
/// escaped, as bash, ksh and zsh read it.
pub(crate) fn enquoted(argument: &str) -> String {
    if !argument.chars().any(is_hidden) {
        return format!("'{}'", argument.replace('\'', r"'\''"));
    }
    let mut escaped = String::with_capacity(argument.len());
    for char in argument.chars() {
        match char {
            '\'' => escaped.push_str("\\'"),
            '\\' => escaped.push_str("\\\\"),
            char if is_hidden(char) && u32::from(char) > 0xffff => {
                escaped.push_str(&format!("\\U{:08x}", u32::from(char)));
            }
            char if is_hidden(char) => escaped.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => escaped.push(char),
        }
    }
    format!("$'{escaped}'")
}

/// A request to the API for a shell; the path is that below `/v1`, the body JSON.
pub(crate) fn api_request(
    public_url: &str,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> String {
    let method = match method {
        "GET" => String::new(),
        method => format!(" -X {method}"),
    };
    let url = quoted(&format!("{public_url}/v1{path}"));
    let key = "-H \"Authorization: Bearer $HEADWATER_API_KEY\"";
    match body {
        Some(body) => {
            let body = enquoted(body);
            format!("curl{method} {url} {key} -H 'content-type: application/json' -d {body}")
        }
        None => format!("curl{method} {url} {key}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_line_of_a_shell() {
        let of = |method, path, body| api_request("https://a.example", method, path, body);
        let key = "-H \"Authorization: Bearer $HEADWATER_API_KEY\"";
        assert_eq!(
            of("GET", "/events?q=two+words", None),
            format!("curl 'https://a.example/v1/events?q=two+words' {key}")
        );
        assert_eq!(
            of("POST", "/events/replay", Some(r#"{"q":"it's"}"#)),
            format!(
                r#"curl -X POST https://a.example/v1/events/replay {key} -H 'content-type: application/json' -d '{{"q":"it'\''s"}}'"#
            )
        );
    }

    #[test]
    fn arguments_are_one_word_of_a_shell() {
        for (argument, expected) in [
            ("orders", "orders"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("$(rm -r /)", "'$(rm -r /)'"),
            ("a\nb'c", r"$'a\u000ab\'c'"),
            ("a\u{202e}\u{e0001}", r"$'a\u202e\U000e0001'"),
        ] {
            assert_eq!(quoted(argument), expected);
        }
    }
}
