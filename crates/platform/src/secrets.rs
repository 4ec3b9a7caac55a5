//! Encryption of values that must not be readable in the store: accounts' fields, webhooks' secrets and
//! `secret` props.
//!
//! XChaCha20-Poly1305 with a random nonce. A sealed value begins with the version of its key, so
//! that a later key can be introduced while values sealed with earlier ones still open.

mod keys;

use headwater_model::{error::Invalid, prop::ConfiguredProps};
use headwater_store::Sealed;
use serde_json::{Value, json};

pub(crate) use keys::SecretKeys;
pub use keys::{KeyFile, KeyRing};

use crate::environment::Environment;
use crate::error::PlatformError;

/// The way on after the key of a secret prop's value was lost.
const LOST_ADVICE: &str =
    "update the source with the value again, or start the node with the key it was encrypted with";

/// The property that marks a sealed value inside `configured_props`.
const SEALED: &str = "$sealed";

impl KeyRing {
    /// Seals a prop's value for `configured_props`.
    pub(crate) fn seal_prop(
        &self,
        env: &Environment,
        prop: &str,
        value: &Value,
    ) -> Result<Value, PlatformError> {
        let sealed = self.seal(env, prop, value.to_string().as_bytes())?;
        Ok(json!({ SEALED: hex::encode(sealed.0) }))
    }

    /// Opens a value of `configured_props`, if it is a sealed one.
    ///
    /// # Errors
    /// `Conflict` when no key opens it.
    pub(crate) fn open_prop(&self, prop: &str, value: &Value) -> Result<Value, PlatformError> {
        let Some(sealed) = sealed_bytes(value) else {
            return Ok(value.clone());
        };
        let plain = self.open(prop, &sealed).map_err(|error| {
            PlatformError::Conflict(format!(
                "secret prop `{prop}` has a value that cannot be used: {error}; {LOST_ADVICE}"
            ))
        })?;
        serde_json::from_slice(&plain).map_err(|_| {
            PlatformError::Internal(format!(
                "the stored value of secret prop `{prop}` is malformed"
            ))
        })
    }
}

impl SecretKeys {
    /// Seals a prop's value for `configured_props`.
    pub(crate) fn seal_prop(
        &self,
        env: &Environment,
        prop: &str,
        value: &Value,
    ) -> Result<Value, PlatformError> {
        self.ring().seal_prop(env, prop, value)
    }

    /// Opens a value of `configured_props`, if it is a sealed one.
    pub(crate) fn open_prop(&self, prop: &str, value: &Value) -> Result<Value, PlatformError> {
        self.ring().open_prop(prop, value)
    }
}

/// Whether a value of `configured_props` is a sealed one.
pub(crate) fn is_sealed(value: &Value) -> bool {
    sealed_text(value).is_some()
}

/// Refuses values that claim to be sealed already.
pub(crate) fn refuse_sealed(values: &ConfiguredProps) -> Result<(), PlatformError> {
    match values.iter().find(|(_, value)| is_sealed(value)) {
        None => Ok(()),
        Some((prop, _)) => {
            let reason = "an object of `$sealed` alone is the platform's own";
            let invalid = Invalid::new(prop, reason).within("configured_props");
            Err(PlatformError::InvalidProps(invalid))
        }
    }
}

fn sealed_text(value: &Value) -> Option<&str> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object.get(SEALED)?.as_str()
}

/// The bytes of a sealed value; nothing opens text that is not hexadecimal.
pub(crate) fn sealed_bytes(value: &Value) -> Option<Sealed> {
    sealed_text(value).map(|text| Sealed(hex::decode(text).unwrap_or_default()))
}

/// The purpose that a variable's value is sealed for.
pub(crate) fn variable_purpose(tenant: &str, name: &str) -> String {
    format!("variable {tenant} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    #[test]
    fn a_sealed_prop_shows_nothing_of_its_value() {
        let (env, key) = (environment(), KeyRing::first([7; 32]));
        let sealed = key.seal_prop(&env, "token", &json!("hunter2")).unwrap();
        assert!(is_sealed(&sealed) && !sealed.to_string().contains("hunter2"));
        assert_eq!(key.open_prop("token", &sealed).unwrap(), json!("hunter2"));
        assert_eq!(
            key.open_prop("plain", &json!("as it is")).unwrap(),
            json!("as it is")
        );
        assert!(key.open_prop("token", &json!({SEALED: "none"})).is_err());
    }
}
