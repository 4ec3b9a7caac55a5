//! `X-Request-Id`: the name under which a request appears in the log. The caller's own if it is a
//! sane one, else a random one.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use headwater_platform::Environment;

const NAME: HeaderName = HeaderName::from_static("x-request-id");
/// Longer ones are not names but payload.
const LEN_MAX: usize = 128;

/// A request's name, always fit for a header and a log line.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// The request's own id, or a new one.
    pub(crate) fn of(headers: &HeaderMap, env: &Environment) -> Self {
        let given = headers.get(NAME).filter(|value| is_sane(value.as_bytes()));
        given.map_or_else(|| Self::random(env), |value| Self(value.clone()))
    }

    fn random(env: &Environment) -> Self {
        let mut bits = [0; 16];
        env.random.fill(&mut bits);
        let text = format!("{:032x}", u128::from_le_bytes(bits));
        Self(HeaderValue::from_str(&text).expect("hexadecimal digits are fit for a header"))
    }

    /// The id as text.
    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().expect("only visible ASCII becomes an id")
    }

    /// Names the response, unless a component named it already.
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        headers.entry(NAME).or_insert(self.0);
    }
}

fn is_sane(value: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(byte);
    (1..=LEN_MAX).contains(&value.len()) && value.iter().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_plain_ids_are_taken_over() {
        let long = "a".repeat(LEN_MAX + 1);
        for (given, sane) in [
            ("9f-4c_1.a:b", true),
            ("", false),
            ("a b", false),
            ("a\"b", false),
            (long.as_str(), false),
        ] {
            assert_eq!(is_sane(given.as_bytes()), sane, "{given}");
        }
    }
}
