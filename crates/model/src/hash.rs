//! Hashes by which things are known. Each is a type of its own, so a wrong one does not compile.
//!
//! Deliberately without hashing, which is left to the crates that have the bytes.

use serde::{Deserialize, Serialize};

macro_rules! hashes {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// A hash as it was computed or read.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The hash as it is shown and stored.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    )*};
}

hashes! {
    /// The SHA-256 of a built component's archive, hexadecimal. It names the archive.
    ArtifactHash;
    /// The SHA-256 of a component's code, hexadecimal.
    CodeHash;
    /// The hash that stands in for a secret that nobody has to read again: an API key, the token of a link, a
    /// `state`, a browser's cookie.
    SecretHash;
}
