//! Encryption of what must not be readable in the store: accounts' fields and `secret` props.
//!
//! XChaCha20-Poly1305 with a random nonce. A sealed value begins with the version of its key, so
//! that a later key can be introduced while values sealed with earlier ones still open.

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use headwater_model::{error::Invalid, prop::ConfiguredProps};
use serde_json::{Value, json};

use crate::environment::Environment;
use crate::error::AppError;

const NONCE_BYTES: usize = 24;
/// The property that marks a sealed value inside `configured_props`.
const SEALED: &str = "$sealed";

/// The node's secret key. `Debug` shows nothing of it.
#[derive(Clone)]
pub struct SecretKey {
    /// 1 for the first key; kept with every value it seals.
    version: u8,
    cipher: XChaCha20Poly1305,
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretKey(version {})", self.version)
    }
}

impl SecretKey {
    /// A key of that version.
    pub fn new(version: u8, key: &[u8; 32]) -> Self {
        Self {
            version,
            cipher: XChaCha20Poly1305::new(key.into()),
        }
    }

    /// Encrypts. `purpose` must be given again to open, so that a value cannot be moved elsewhere.
    pub fn seal(
        &self,
        env: &Environment,
        purpose: &str,
        plain: &[u8],
    ) -> Result<Vec<u8>, AppError> {
        let mut nonce = [0; NONCE_BYTES];
        env.random.fill(&mut nonce);
        let payload = Payload {
            msg: plain,
            aad: purpose.as_bytes(),
        };
        let sealed = self
            .cipher
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| AppError::Internal("a secret could not be encrypted".to_owned()))?;
        Ok([&[self.version], nonce.as_slice(), &sealed].concat())
    }

    /// Decrypts what [`SecretKey::seal`] gave for the same purpose.
    ///
    /// # Errors
    /// `Internal` when the value was sealed with another key or changed since.
    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, AppError> {
        let broken =
            |why: &str| AppError::Internal(format!("a stored secret cannot be decrypted: {why}"));
        let (version, rest) = sealed.split_first().ok_or_else(|| broken("it is empty"))?;
        if *version != self.version {
            return Err(broken(
                "it was sealed with another secret key; start the node with that one",
            ));
        }
        let (nonce, text) = rest
            .split_at_checked(NONCE_BYTES)
            .ok_or_else(|| broken("it is too short"))?;
        let nonce = XNonce::try_from(nonce).map_err(|_| broken("its nonce is malformed"))?;
        self.cipher
            .decrypt(
                &nonce,
                Payload {
                    msg: text,
                    aad: purpose.as_bytes(),
                },
            )
            .map_err(|_| {
                broken("the secret key differs from the one it was sealed with, or it was changed")
            })
    }

    /// Seals a prop's value for `configured_props`.
    pub fn seal_prop(
        &self,
        env: &Environment,
        prop: &str,
        value: &Value,
    ) -> Result<Value, AppError> {
        let sealed = self.seal(env, prop, value.to_string().as_bytes())?;
        Ok(json!({ SEALED: hex::encode(sealed) }))
    }

    /// Opens a value of `configured_props`, if it is a sealed one.
    pub fn open_prop(&self, prop: &str, value: &Value) -> Result<Value, AppError> {
        let Some(sealed) = sealed_text(value) else {
            return Ok(value.clone());
        };
        let broken = |_| {
            AppError::Internal(format!(
                "the stored value of secret prop `{prop}` is malformed"
            ))
        };
        let plain = self.open(prop, &hex::decode(sealed).map_err(|_| broken(()))?)?;
        serde_json::from_slice(&plain).map_err(|_| broken(()))
    }
}

/// Whether a value of `configured_props` is a sealed one.
pub(crate) fn is_sealed(value: &Value) -> bool {
    sealed_text(value).is_some()
}

/// Refuses values that claim to be sealed already.
pub(crate) fn refuse_sealed(values: &ConfiguredProps) -> Result<(), AppError> {
    match values.iter().find(|(_, value)| is_sealed(value)) {
        None => Ok(()),
        Some((prop, _)) => {
            let reason = "an object of `$sealed` alone is the platform's own";
            let invalid = Invalid::new(prop, reason).within("configured_props");
            Err(AppError::InvalidProps(invalid))
        }
    }
}

fn sealed_text(value: &Value) -> Option<&str> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object.get(SEALED)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    #[test]
    fn a_sealed_value_opens_only_with_its_key_and_purpose() {
        let (env, key) = (environment(), SecretKey::new(1, &[7; 32]));
        let sealed = key.seal(&env, "account", b"password").unwrap();
        assert_eq!(key.open("account", &sealed).unwrap(), b"password");
        assert!(key.open("other", &sealed).is_err());
        assert!(
            SecretKey::new(1, &[8; 32])
                .open("account", &sealed)
                .is_err()
        );
        assert!(
            SecretKey::new(2, &[7; 32])
                .open("account", &sealed)
                .is_err()
        );
        let mut changed = sealed.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(key.open("account", &changed).is_err());
        assert!(key.open("account", &sealed[..10]).is_err());
    }

    #[test]
    fn the_same_value_never_seals_to_the_same_bytes() {
        let (env, key) = (environment(), SecretKey::new(1, &[7; 32]));
        assert_ne!(
            key.seal(&env, "p", b"x").unwrap(),
            key.seal(&env, "p", b"x").unwrap()
        );
    }

    #[test]
    fn a_sealed_prop_shows_nothing_of_its_value() {
        let (env, key) = (environment(), SecretKey::new(1, &[7; 32]));
        let sealed = key.seal_prop(&env, "token", &json!("hunter2")).unwrap();
        assert!(is_sealed(&sealed) && !sealed.to_string().contains("hunter2"));
        assert_eq!(key.open_prop("token", &sealed).unwrap(), json!("hunter2"));
        assert_eq!(
            key.open_prop("plain", &json!("as it is")).unwrap(),
            json!("as it is")
        );
    }
}
