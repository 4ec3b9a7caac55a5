//! The secret that the nodes of a cluster share, and what is derived from it: the word by which they know each other, and
//! the key that seals their secret keys in the database.

use std::fmt;

use axum::http::HeaderValue;
use headwater_platform::KeyRing;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::usage_error::UsageError;

/// Characters of the shortest secret: nobody guesses as many random ones.
const CHARS_MIN: usize = 32;

/// Something that only nodes say to each other.
#[derive(Debug, Clone, Copy)]
pub(super) enum Saying {
    /// A request comes from a node, which passes it on for a client.
    PassedOn,
    /// A node asks for the workers of another one. No client can have this said for it, as a request that is passed on can
    /// be.
    Workers,
}

impl Saying {
    fn purpose(self) -> &'static str {
        match self {
            Self::PassedOn => "requests between nodes",
            Self::Workers => "workers of other nodes",
        }
    }
}

/// `--cluster-secret`. `Debug` shows nothing of it.
#[derive(Clone)]
pub(in crate::serve) struct ClusterSecret(String);

impl fmt::Debug for ClusterSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClusterSecret")
    }
}

impl ClusterSecret {
    /// The secret of that text.
    ///
    /// # Errors
    /// A `UsageError` for one that could be guessed.
    pub(in crate::serve) fn of(text: &str) -> Result<Self, UsageError> {
        if text.chars().count() < CHARS_MIN {
            return Err(UsageError(format!(
                "--cluster-secret: must have {CHARS_MIN} characters or more; `openssl rand -hex 32` makes one, and all nodes \
                 get the same"
            )));
        }
        Ok(Self(text.to_owned()))
    }

    /// The word by which a node says something that only nodes say.
    pub(super) fn word(&self, saying: Saying) -> HeaderValue {
        let word = hex::encode(self.derived(saying.purpose()));
        HeaderValue::from_str(&word).expect("hexadecimal digits")
    }

    /// Whether a word is the one of this cluster; takes as long whatever the word is.
    pub(super) fn is_word(&self, saying: Saying, word: &[u8]) -> bool {
        let word = hex::decode(word).unwrap_or_default();
        self.mac(saying.purpose()).verify_slice(&word).is_ok()
    }

    /// The key that seals the secret keys of the cluster.
    pub(super) fn sealing_key(&self) -> KeyRing {
        KeyRing::first(self.derived("secret keys"))
    }

    fn derived(&self, purpose: &str) -> [u8; 32] {
        self.mac(purpose).finalize().into_bytes().into()
    }

    fn mac(&self, purpose: &str) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).expect("a key may have any length");
        mac.update(b"headwater cluster: ");
        mac.update(purpose.as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_secret_knows_the_word() {
        let secret = ClusterSecret::of(&"a".repeat(32)).unwrap();
        let other = ClusterSecret::of(&"b".repeat(32)).unwrap();
        for (saying, another) in [
            (Saying::PassedOn, Saying::Workers),
            (Saying::Workers, Saying::PassedOn),
        ] {
            let word = secret.word(saying);
            assert!(secret.is_word(saying, word.as_bytes()));
            assert!(!secret.is_word(another, word.as_bytes()));
            assert!(!other.is_word(saying, word.as_bytes()));
            assert!(!secret.is_word(saying, b"") && !secret.is_word(saying, b"not hexadecimal"));
        }
        assert!(ClusterSecret::of("short").is_err());
    }
}
