//! The tokens in the URLs of waits: they name run, place and generation, and are signed, so that a URL is good before
//! anything about its step is stored, and nobody can guess another.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use headwater_model::id::InvocationId;
use headwater_store::WaitId;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Serialize;
use sha2::Sha256;

/// Bytes of a signature: 128 bits, which nobody guesses.
const SIGNATURE_BYTES: usize = 16;

/// The three URLs of a wait, as a step's input has them.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct WaitUrls {
    pub(crate) resume: String,
    pub(crate) cancel: String,
    pub(crate) rerun: String,
}

impl WaitUrls {
    /// The URLs of a wait on the node's public address.
    pub(crate) fn of(public_url: &str, token: &str) -> Self {
        let url = |action: &str| format!("{public_url}/w/{token}/{action}");
        Self {
            resume: url("resume"),
            cancel: url("cancel"),
            rerun: url("rerun"),
        }
    }
}

/// The key that signs them: one per installation, which outlives rotations of the secret keys.
pub(crate) struct WaitKey(pub(crate) [u8; 32]);

impl WaitKey {
    /// The token of a wait: base64url of `<signature><run id> <generation> <path>`.
    pub(crate) fn token(&self, wait: &WaitId) -> String {
        let name = format!("{} {} {}", wait.run_id, wait.generation, wait.path);
        let signature = self.mac(name.as_bytes()).finalize().into_bytes();
        let bytes = [&signature[..SIGNATURE_BYTES], name.as_bytes()].concat();
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The wait that a token names; `None` for one that this installation did not create.
    pub(crate) fn wait(&self, token: &str) -> Option<WaitId> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (signature, name) = bytes.split_at_checked(SIGNATURE_BYTES)?;
        self.mac(name).verify_truncated_left(signature).ok()?;
        let mut parts = std::str::from_utf8(name).ok()?.splitn(3, ' ');
        let run_id: InvocationId = parts.next()?.parse().ok()?;
        let generation = parts.next()?.parse().ok()?;
        let path = parts.next()?.to_owned();
        Some(WaitId {
            run_id,
            path,
            generation,
        })
    }

    fn mac(&self, name: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.0.into());
        mac.update(name);
        mac
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    fn wait() -> WaitId {
        WaitId {
            run_id: InvocationId::new(EpochMs(1), 7),
            path: "route.large.each[3].approve".to_owned(),
            generation: 2,
        }
    }

    #[test]
    fn a_token_names_its_wait() {
        let key = WaitKey([7; 32]);
        let token = key.token(&wait());
        assert_eq!(key.wait(&token), Some(wait()));
        assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    }

    #[test]
    fn a_token_that_was_changed_or_signed_elsewhere_names_nothing() {
        let key = WaitKey([7; 32]);
        let token = key.token(&wait());
        assert_eq!(WaitKey([8; 32]).wait(&token), None);
        let mut bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        for index in 0..bytes.len() {
            bytes[index] ^= 1;
            assert_eq!(key.wait(&URL_SAFE_NO_PAD.encode(&bytes)), None, "byte {index}");
            bytes[index] ^= 1;
        }
        for text in ["", "x", "%%%", "AAAAAAAAAAAAAAAAAAAAAA"] {
            assert_eq!(key.wait(text), None, "{text}");
        }
    }
}
