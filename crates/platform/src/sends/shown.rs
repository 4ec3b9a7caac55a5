//! Texts and headers as people see them: cut, and with a mark in place of each credential.

use reqwest::header::HeaderMap;
use serde_json::{Map, Value, value::RawValue};
use url::Url;

use crate::credential_names::{MARK, is_credential};

/// Bytes of a text that are shown.
const TEXT_BYTES_MAX: usize = 4 * 1024;
/// Shorter values are no credentials, and would be found everywhere.
const CREDENTIAL_BYTES_MIN: usize = 6;

/// A text of which at most 4 KiB are shown.
pub(super) fn cut(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(TEXT_BYTES_MAX - MARK.len());
    format!("{}{MARK}", &text[..end])
}

/// Headers by name; a name that is there several times has its values in one text.
pub(super) fn headers(headers: &HeaderMap) -> Value {
    let mut shown = Map::new();
    for name in headers.keys() {
        let values = headers.get_all(name).iter();
        let values: Vec<_> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        let text = match is_credential(name.as_str()) {
            true => MARK.to_owned(),
            false => cut(&values.join(", ")),
        };
        shown.insert(name.as_str().to_owned(), Value::String(text));
    }
    Value::Object(shown)
}

/// A URL without user, password, and the values of parameters that are credentials.
pub(super) fn url(url: &Url) -> String {
    let mut url = url.clone();
    // Fails for URLs without a host, which have no user.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_fragment(None);
    let Some(query) = url.query().map(str::to_owned) else {
        return cut(url.as_str());
    };
    url.set_query(None);
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_credential(name) => format!("{name}={MARK}"),
        _ => pair.to_owned(),
    });
    let shown: Vec<_> = shown.collect();
    cut(&format!("{url}?{}", shown.join("&")))
}

/// A text without these credentials.
pub(super) fn without(credentials: &[String], text: &str) -> String {
    let credentials = credentials
        .iter()
        .filter(|credential| credential.len() >= CREDENTIAL_BYTES_MIN);
    credentials.fold(text.to_owned(), |text, credential| {
        text.replace(credential, MARK)
    })
}

/// A value as JSON text.
pub(super) fn json_text(value: &Value) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_credentials() {
        for (text, shown) in [
            ("https://a.example/x", "https://a.example/x"),
            ("https://u:p@a.example/?q=1", "https://a.example/?q=1"),
            (
                "https://a.example/?q=1&api_key=hush&flag#part",
                "https://a.example/?q=1&api_key=…&flag",
            ),
        ] {
            assert_eq!(url(&Url::parse(text).unwrap()), shown);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        let whole = "a".repeat(4096);
        assert_eq!(cut(&whole), whole);
        let long = cut(&"ü".repeat(4096));
        assert!(long.len() <= 4096 && long.ends_with("ü…"), "{}", long.len());
    }

    #[test]
    fn short_words_are_no_credentials() {
        let credentials = ["hunter22".to_owned(), "on".to_owned()];
        let text = without(&credentials, "hunter22 is on");
        assert_eq!(text, "… is on");
    }
}
