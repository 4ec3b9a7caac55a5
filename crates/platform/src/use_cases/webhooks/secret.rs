//! Secrets that users bring along, as Standard Webhooks writes them.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::error::PlatformError;

const PREFIX: &str = "whsec_";
/// Shorter ones can be guessed, longer ones add nothing to SHA-256.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The secret as it was given, checked.
///
/// # Errors
/// `Invalid`, describing the form of a secret; the text itself is never repeated.
pub(super) fn checked(text: String) -> Result<String, PlatformError> {
    let bytes = text
        .strip_prefix(PREFIX)
        .and_then(|encoded| STANDARD.decode(encoded).ok());
    match bytes.is_some_and(|bytes| BYTES.contains(&bytes.len())) {
        true => Ok(text),
        false => Err(PlatformError::invalid(
            "secret",
            "`secret` must be `whsec_` and 24 to 64 bytes in base64; leave it out to get a new one",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(bytes: usize) -> String {
        format!("{PREFIX}{}", STANDARD.encode(vec![7; bytes]))
    }

    #[test]
    fn a_secret_has_its_prefix_and_length() {
        for bytes in [24, 32, 64] {
            assert_eq!(checked(secret(bytes)).unwrap(), secret(bytes));
        }
        for wrong in [
            secret(23),
            secret(65),
            secret(32).replace(PREFIX, ""),
            format!("{PREFIX}not base64!"),
            String::new(),
        ] {
            let error = checked(wrong.clone()).unwrap_err().to_string();
            assert!(wrong.len() < 10 || !error.contains(&wrong), "{error}");
        }
    }
}
