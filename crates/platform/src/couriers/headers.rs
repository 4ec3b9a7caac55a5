//! The headers that are kept with an attempt: a bounded part of them, without credentials of the receiver.

use headwater_model::webhook::{HEADER_VALUE_BYTES, HEADERS_KEPT};
use reqwest::header::{HeaderMap, HeaderValue};

use crate::credential_names::{MARK, is_credential};

/// Those of a request. The node sets all of them, and none is a credential: a signature tells nothing of its secret.
pub(super) fn of_request(headers: &HeaderMap) -> Vec<(String, String)> {
    kept(headers, |_| false)
}

/// Those of a response.
pub(super) fn of_response(headers: &HeaderMap) -> Vec<(String, String)> {
    kept(headers, is_credential)
}

fn kept(headers: &HeaderMap, is_hidden: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let kept = headers.iter().take(HEADERS_KEPT);
    let shown = kept.map(|(name, value)| {
        let text = match is_hidden(name.as_str()) {
            true => MARK.to_owned(),
            false => text(value),
        };
        (name.to_string(), text)
    });
    shown.collect()
}

fn text(value: &HeaderValue) -> String {
    let mut text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    if text.len() > HEADER_VALUE_BYTES {
        text.truncate(text.floor_char_boundary(HEADER_VALUE_BYTES - MARK.len()));
        text.push_str(MARK);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    #[test]
    fn credentials_of_the_receiver_are_not_kept() {
        let given = headers(&[("set-cookie", "session=hush"), ("x-a", "1"), ("x-a", "2")]);
        let shown = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let all = [
            shown("set-cookie", "…"),
            shown("x-a", "1"),
            shown("x-a", "2"),
        ];
        assert_eq!(of_response(&given), all);
        let given = headers(&[("webhook-signature", "v1,abc")]);
        assert_eq!(of_request(&given), [shown("webhook-signature", "v1,abc")]);
    }

    #[test]
    fn headers_are_kept_up_to_a_bound() {
        let long = "ü".repeat(HEADER_VALUE_BYTES);
        let given = headers(&vec![("x-a", &*long); HEADERS_KEPT + 1]);
        let kept = of_response(&given);
        assert_eq!(kept.len(), HEADERS_KEPT);
        let (_, value) = &kept[0];
        assert!(
            value.len() <= HEADER_VALUE_BYTES && value.ends_with("ü…"),
            "{value}"
        );
    }
}
