//! The ways in which an attempt of a delivery is answered, or is not.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The reason why an attempt did not deliver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptFailure {
    /// The host's name did not resolve.
    Dns,
    /// The host refused the connection.
    Refused,
    /// The connection could not be secured: a certificate, for instance.
    Tls,
    /// There was no answer in time.
    Timeout,
    /// The node may not reach the address, or the URL is none.
    Blocked,
    /// The connection could not be made for another reason, or broke, or what came is not HTTP.
    Broken,
    /// The answer was a redirect, which is not followed.
    Redirect,
    /// The answer had another status than 2xx.
    Status,
}

impl AttemptFailure {
    const WITHOUT_ANSWER: [(Self, &'static str); 6] = [
        (Self::Dns, "dns"),
        (Self::Refused, "refused"),
        (Self::Tls, "tls"),
        (Self::Timeout, "timeout"),
        (Self::Blocked, "blocked"),
        (Self::Broken, "broken"),
    ];

    /// The failure that an answer with that status is; `None`: it delivered.
    pub fn of_status(status: u16) -> Option<Self> {
        match status {
            200..300 => None,
            300..400 => Some(Self::Redirect),
            _ => Some(Self::Status),
        }
    }
}

/// The result of an attempt, by which deliveries are found: the class of the answer's status, or why there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerKind {
    /// The status divided by 100, from 1 to 5.
    Status(u8),
    /// There was no answer.
    None(AttemptFailure),
}

impl AnswerKind {
    /// The result of an attempt that got that status or failed so.
    pub fn of(status: Option<u16>, failure: Option<AttemptFailure>) -> Self {
        match (status, failure) {
            (Some(status), _) => Self::Status(u8::try_from(status / 100).unwrap_or(u8::MAX)),
            (None, failure) => Self::None(failure.unwrap_or(AttemptFailure::Broken)),
        }
    }

    /// Whether the attempt delivered.
    pub fn is_success(self) -> bool {
        self == Self::Status(2)
    }
}

impl fmt::Display for AnswerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(class) => write!(f, "{class}xx"),
            Self::None(failure) => {
                let mut known = AttemptFailure::WITHOUT_ANSWER.into_iter();
                let name = known.find(|(one, _)| one == failure);
                f.write_str(name.map_or("broken", |(_, name)| name))
            }
        }
    }
}

/// The reason why a text names no result of attempts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a result of attempts: expected 1xx, 2xx, 3xx, 4xx, 5xx, dns, refused, tls, timeout, blocked or broken"
)]
pub struct InvalidAnswerKind(String);

impl FromStr for AnswerKind {
    type Err = InvalidAnswerKind;

    fn from_str(text: &str) -> Result<Self, InvalidAnswerKind> {
        if let [class @ b'1'..=b'5', b'x', b'x'] = text.as_bytes() {
            return Ok(Self::Status(class - b'0'));
        }
        let mut known = AttemptFailure::WITHOUT_ANSWER.into_iter();
        let found = known.find(|(_, name)| *name == text);
        found
            .map(|(failure, _)| Self::None(failure))
            .ok_or_else(|| InvalidAnswerKind(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for AnswerKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_named_by_its_class_or_its_failure() {
        for (status, failure, name) in [
            (Some(204), None, "2xx"),
            (Some(307), Some(AttemptFailure::Redirect), "3xx"),
            (Some(503), Some(AttemptFailure::Status), "5xx"),
            (None, Some(AttemptFailure::Dns), "dns"),
            (None, Some(AttemptFailure::Timeout), "timeout"),
            (None, None, "broken"),
        ] {
            let kind = AnswerKind::of(status, failure);
            assert_eq!(kind.to_string(), name);
            assert_eq!(name.parse(), Ok(kind));
            assert_eq!(kind.is_success(), name == "2xx");
        }
        for wrong in ["", "6xx", "0xx", "200", "status", "DNS"] {
            assert!(wrong.parse::<AnswerKind>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_2xx_is_no_failure() {
        for (status, failure) in [
            (101, Some(AttemptFailure::Status)),
            (200, None),
            (299, None),
            (301, Some(AttemptFailure::Redirect)),
            (404, Some(AttemptFailure::Status)),
            (599, Some(AttemptFailure::Status)),
        ] {
            assert_eq!(AttemptFailure::of_status(status), failure, "{status}");
        }
    }
}
