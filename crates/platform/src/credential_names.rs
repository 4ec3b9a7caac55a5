//! The names by which headers and parameters with credentials are known, so that people are not shown them.

/// The mark in place of a credential.
pub(crate) const MARK: &str = "…";
/// Parts of the names of headers and parameters whose values are credentials, without `-` and `_`.
const CREDENTIALS: &[&str] = &[
    "accesskey",
    "apikey",
    "authkey",
    "authorization",
    "cookie",
    "credential",
    "passwd",
    "password",
    "secret",
    "signature",
    "token",
];
/// Whole names of them.
const CREDENTIAL_NAMES: &[&str] = &["auth", "code", "key", "sig", "xauth"];
/// Whether the value of a header or parameter of this name is a credential.
pub(crate) fn is_credential(name: &str) -> bool {
    let letters = name.chars().filter(|c| !matches!(c, '-' | '_'));
    let letters: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    CREDENTIAL_NAMES.contains(&&*letters) || CREDENTIALS.iter().any(|part| letters.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_their_names() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "Set-Cookie",
            "X-API-Key",
            "api_key",
            "X-Auth-Token",
            "access_token",
            "client_secret",
            "X-Hub-Signature-256",
            "key",
            "sig",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in [
            "X-Author",
            "content-type",
            "keyword",
            "Idempotency-Key",
            "signed",
        ] {
            assert!(!is_credential(name), "{name}");
        }
    }
}
