//! The tokens in the URLs of waits: they name run, place and generation, and are signed, so that a URL is good before
//! anything about its step is stored, and nobody can guess another.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use headwater_model::id::InvocationId;
use headwater_store::{Variable, WaitId};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Serialize;
use sha2::Sha256;

use crate::{core::Core, error::PlatformError, secrets::{SecretKeys, variable_purpose}};

/// The owner of the installation's own variables: no user or workspace has an id like it.
const INSTALLATION: &str = "installation";
const WAIT_KEY: &str = "wait_key";
/// Bytes of a signature: 128 bits, which nobody guesses.
const SIGNATURE_BYTES: usize = 16;
/// Bytes of a mark.
const MARK_BYTES: usize = 8;

/// The three URLs of a wait, as a step's input has them.
#[derive(Debug, Clone, Serialize)]
pub struct WaitUrls {
    /// Lets the run go on.
    pub resume: String,
    /// Ends the run.
    pub cancel: String,
    /// Lets the step run again at once.
    pub rerun: String,
    /// The token in all of them.
    #[serde(skip)]
    pub(crate) token: String,
}

impl WaitUrls {
    /// The URLs of a wait on the node's public address.
    pub(crate) fn of(public_url: &str, token: &str) -> Self {
        let url = |action: &str| format!("{public_url}/w/{token}/{action}");
        Self {
            resume: url("resume"),
            cancel: url("cancel"),
            rerun: url("rerun"),
            token: token.to_owned(),
        }
    }
}

/// The key that signs them: one per installation, which outlives rotations of the secret keys.
pub(crate) struct WaitKey(pub(crate) [u8; 64]);

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

    /// A mark that nobody else can state, for a name.
    pub(crate) fn mark(&self, name: &str) -> String {
        let mac = self.mac(format!("mark {name}").as_bytes()).finalize().into_bytes();
        hex::encode(&mac[..MARK_BYTES])
    }

    fn mac(&self, name: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.0.into());
        mac.update(name);
        mac
    }
}

/// The key of this installation, created at its first start and kept sealed in the store: URLs that were handed out before
/// a restart stay good.
///
/// # Errors
/// The store cannot be used. A key that cannot be opened is taken for lost: its URLs lead nowhere.
pub(crate) async fn installation_key(core: &Core, secret_keys: &SecretKeys) -> Result<WaitKey, PlatformError> {
    let known = core.store.variables(INSTALLATION).await?;
    let known = known.iter().find(|variable| variable.name == WAIT_KEY);
    let purpose = variable_purpose(INSTALLATION, WAIT_KEY);
    if let Some(known) = known {
        return match secret_keys.open(&purpose, &known.value) {
            Ok(key) => <[u8; 64]>::try_from(&key[..])
                .map(WaitKey)
                .map_err(|_| PlatformError::Internal("the key of waits has another length".to_owned())),
            Err(error) => {
                tracing::error!(%error, "the key of waits cannot be opened: URLs of waits do not work until the node has the secret key that it was sealed with");
                Ok(WaitKey(random(core)))
            }
        };
    }
    let key = random(core);
    let variable = Variable {
        name: WAIT_KEY.to_owned(),
        value: secret_keys.seal(&core.env, &purpose, &key)?,
        updated_at: core.env.now_at(),
    };
    core.store.set_variable(INSTALLATION, variable).await?;
    Ok(WaitKey(key))
}

fn random(core: &Core) -> [u8; 64] {
    let mut key = [0; 64];
    core.env.random.fill(&mut key);
    key
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
        let key = WaitKey([7; 64]);
        let token = key.token(&wait());
        assert_eq!(key.wait(&token), Some(wait()));
        assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    }

    #[test]
    fn a_token_that_was_changed_or_signed_elsewhere_names_nothing() {
        let key = WaitKey([7; 64]);
        let token = key.token(&wait());
        assert_eq!(WaitKey([8; 64]).wait(&token), None);
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
