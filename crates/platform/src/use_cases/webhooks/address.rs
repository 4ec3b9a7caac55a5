//! The URLs that a webhook may have. Names are judged at each delivery by the addresses that they
//! resolve to; only the text is judged here.

use headwater_engine::network::{NetworkPolicy, check_host};
use url::Url;

use crate::error::PlatformError;

const URL_BYTES: usize = 2048;

/// The URL as it was given, checked.
///
/// # Errors
/// `Invalid`, naming its fault.
pub(crate) fn checked(text: &str, policy: &NetworkPolicy) -> Result<String, PlatformError> {
    let invalid = |reason: &str| PlatformError::invalid("url", reason);
    if text.is_empty() {
        return Err(invalid(
            "`url` is required: the address that events are POSTed to, such as https://example.com/events",
        ));
    }
    if text.len() > URL_BYTES {
        return Err(invalid(&format!(
            "`url` may have at most {URL_BYTES} bytes"
        )));
    }
    let url = parsed(text).map_err(|reason| invalid(&format!("`url` {reason}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid(
            "`url` must not contain credentials: deliveries are signed with the webhook's secret instead",
        ));
    }
    if url.fragment().is_some() {
        return Err(invalid(
            "`url` must not contain a fragment (`#…`): it would not be sent",
        ));
    }
    check_host(policy, &url).map_err(|refused| invalid(&format!("`url`: {refused}")))?;
    Ok(text.to_owned())
}

/// Stricter than browsers are, which also take `http:host`, `http:///host`, backslashes and blanks.
fn parsed(text: &str) -> Result<Url, String> {
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err("must not contain blanks, control characters or backslashes".to_owned());
    }
    let (scheme, rest) = text
        .split_once("://")
        .ok_or("must begin with http:// or https://")?;
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Err(format!(
            "must begin with http:// or https://, not with {scheme}://"
        ));
    }
    if rest.is_empty() || rest.starts_with(['/', '?', '#', ':']) {
        return Err("has no host".to_owned());
    }
    Url::parse(text).map_err(|error| format!("is malformed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_and_https_with_a_host_are_taken_as_they_are() {
        for url in [
            "http://example.com",
            "https://example.com:8443/events/in?team=a&b=%20",
            "HTTPS://Example.com/",
            "https://bücher.example/",
            "http://93.184.215.14/x",
            "http://[2606:4700::1111]:80/",
        ] {
            assert_eq!(checked(url, &NetworkPolicy::PublicOnly).unwrap(), url);
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        for (url, reason) in [
            ("", "required"),
            ("example.com", "begin with http"),
            ("//example.com", "begin with http"),
            ("http:example.com", "begin with http"),
            ("ftp://example.com", "not with ftp://"),
            (
                "javascript://example.com/%0aalert(1)",
                "not with javascript",
            ),
            ("http://", "no host"),
            ("http:///example.com", "no host"),
            ("https://:80/", "no host"),
            ("https://?x", "no host"),
            ("https://exa mple.com", "blanks"),
            (" https://example.com", "blanks"),
            ("https://example.com/\n", "blanks"),
            ("https:\\\\example.com", "backslashes"),
            ("https://example.com:99999", "malformed"),
            ("https://user:pass@example.com", "credentials"),
            ("https://user@example.com", "credentials"),
            ("https://example.com/#part", "fragment"),
            ("http://127.0.0.1:3000/", "--allow-private-network"),
            ("http://2130706433/", "--allow-private-network"),
            ("http://0x7f.1/", "--allow-private-network"),
            ("http://[::1]/", "--allow-private-network"),
            ("http://[::ffff:10.0.0.1]/", "--allow-private-network"),
            ("http://169.254.169.254/latest", "--allow-private-network"),
        ] {
            match checked(url, &NetworkPolicy::PublicOnly) {
                Err(PlatformError::Invalid(invalid)) => {
                    assert_eq!(invalid.field, "url");
                    assert!(invalid.reason.contains(reason), "{url}: {}", invalid.reason);
                }
                other => panic!("{url}: {other:?}"),
            }
        }
        let long = format!("https://example.com/{}", "x".repeat(URL_BYTES));
        assert!(checked(&long, &NetworkPolicy::All).is_err());
    }

    #[test]
    fn private_addresses_are_taken_where_the_node_allows_them() {
        let ranges = "127.0.0.0/8".parse().unwrap();
        assert!(checked("http://127.0.0.1:3000/", &ranges).is_ok());
        let Err(PlatformError::Invalid(refused)) = checked("http://10.0.0.1/", &ranges) else {
            panic!("it is taken");
        };
        let told = "10.0.0.1 is not a public address, nor in a range that the node allows";
        assert!(refused.reason.contains(told), "{}", refused.reason);
        assert!(checked("http://10.0.0.1/", &NetworkPolicy::All).is_ok());
    }
}
