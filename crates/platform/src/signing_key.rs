//! The key of an installation, and the tokens signed with it that URLs consist of.
//!
//! Not responsible for the meaning of a token: each kind has a key of its own, derived from the installation's, so that
//! a token of one kind is never one of another.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use headwater_store::{Store, Variable};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::{
    core::Core,
    error::PlatformError,
    secrets::{SecretKeys, variable_purpose},
};

/// The owner of the installation's own variables: no user or workspace has an id like it.
pub(crate) const INSTALLATION: &str = "installation";
const SIGNING_KEY: &str = "signing_key";
/// Bytes of a signature: 128 bits, which nobody guesses.
const SIGNATURE_BYTES: usize = 16;
/// Bytes of a mark.
const MARK_BYTES: usize = 8;
/// And its characters.
pub(crate) const MARK_CHARS: usize = 2 * MARK_BYTES;

/// The key of this installation, which outlives rotations of the secret keys.
pub struct InstallationKey([u8; 64]);

impl InstallationKey {
    /// The installation's key, created at its first start and kept sealed in the store: URLs that were handed out before
    /// a restart stay good.
    ///
    /// # Errors
    /// The store cannot be used. A key that cannot be opened is taken for lost: its URLs lead nowhere.
    pub(crate) async fn load(core: &Core, secret_keys: &SecretKeys) -> Result<Self, PlatformError> {
        let known = core.store.variables(INSTALLATION).await?;
        let known = known.iter().find(|variable| variable.name == SIGNING_KEY);
        let purpose = variable_purpose(INSTALLATION, SIGNING_KEY);
        if let Some(known) = known {
            return match secret_keys.open(&purpose, &known.value) {
                Ok(key) => <[u8; 64]>::try_from(&key[..]).map(Self).map_err(|_| {
                    PlatformError::Internal("the key that signs URLs has another length".to_owned())
                }),
                Err(error) => {
                    tracing::error!(%error, "the key that signs URLs cannot be opened: URLs of waits and files do not work until the node has the secret key that it was sealed with");
                    Ok(Self(random(core)))
                }
            };
        }
        let key = random(core);
        let variable = Variable {
            name: SIGNING_KEY.to_owned(),
            value: secret_keys.seal(&core.env, &purpose, &key)?,
            updated_at: core.env.now_at(),
        };
        core.store.set_variable(INSTALLATION, variable).await?;
        Ok(Self(key))
    }

    /// Forgets the key of a store whose secrets are given up, so that the next start creates one that can be opened.
    ///
    /// # Errors
    /// The store cannot be used.
    pub async fn forget(store: &dyn Store) -> Result<(), PlatformError> {
        store.delete_variable(INSTALLATION, SIGNING_KEY).await?;
        Ok(())
    }

    /// The key of one kind of tokens.
    pub(crate) fn of(&self, purpose: &str) -> SigningKey {
        let half = |number: u8| {
            let mut mac = Hmac::<Sha256>::new(&self.0.into());
            mac.update(purpose.as_bytes());
            mac.update(&[number]);
            mac.finalize().into_bytes()
        };
        let mut key = [0; 64];
        key[..32].copy_from_slice(&half(1));
        key[32..].copy_from_slice(&half(2));
        SigningKey(key)
    }
}

fn random(core: &Core) -> [u8; 64] {
    let mut key = [0; 64];
    core.env.random.fill(&mut key);
    key
}

/// The key that signs one kind of tokens.
pub(crate) struct SigningKey(pub(crate) [u8; 64]);

impl SigningKey {
    /// A token for a name: base64url of `<signature><name>`.
    pub(crate) fn token(&self, name: &str) -> String {
        let signature = self.mac(name.as_bytes()).finalize().into_bytes();
        let bytes = [&signature[..SIGNATURE_BYTES], name.as_bytes()].concat();
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The name in a token; `None` for one that was not signed with this key.
    pub(crate) fn name(&self, token: &str) -> Option<String> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (signature, name) = bytes.split_at_checked(SIGNATURE_BYTES)?;
        self.mac(name).verify_truncated_left(signature).ok()?;
        String::from_utf8(name.to_vec()).ok()
    }

    /// A mark that nobody else can state, for a name.
    pub(crate) fn mark(&self, name: &str) -> String {
        let mac = self
            .mac(format!("mark {name}").as_bytes())
            .finalize()
            .into_bytes();
        hex::encode(&mac[..MARK_BYTES])
    }

    fn mac(&self, name: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.0.into());
        mac.update(name);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_what_it_was_signed_for() {
        let key = SigningKey([7; 64]);
        let token = key.token("run_1 2 each[3].ü");
        assert_eq!(key.name(&token).as_deref(), Some("run_1 2 each[3].ü"));
        assert!(
            token
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        );
    }

    #[test]
    fn a_token_that_was_changed_or_signed_elsewhere_names_nothing() {
        let key = SigningKey([7; 64]);
        let token = key.token("name");
        assert_eq!(SigningKey([8; 64]).name(&token), None);
        let mut bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        for index in 0..bytes.len() {
            bytes[index] ^= 1;
            assert_eq!(
                key.name(&URL_SAFE_NO_PAD.encode(&bytes)),
                None,
                "byte {index}"
            );
            bytes[index] ^= 1;
        }
        for text in ["", "x", "%%%", "AAAAAAAAAAAAAAAAAAAAAA"] {
            assert_eq!(key.name(text), None, "{text}");
        }
    }

    #[test]
    fn a_token_of_one_kind_is_none_of_another() {
        let installation = InstallationKey([7; 64]);
        let token = installation.of("waits").token("name");
        assert_eq!(installation.of("files").name(&token), None);
        assert_eq!(
            installation.of("waits").name(&token).as_deref(),
            Some("name")
        );
    }
}
