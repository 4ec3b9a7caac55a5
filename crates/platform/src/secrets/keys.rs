//! The node's secret keys: the one that seals, and former ones that still open their own values.

use std::{
    io,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use headwater_store::Sealed;
use parking_lot::RwLock;

use crate::{environment::Environment, error::PlatformError};

const NONCE_BYTES: usize = 24;
const KEY_BYTES: usize = 32;
/// Bytes that a sealed value has besides those of the value: the key's version, the nonce and the tag.
const SEAL_BYTES: usize = 1 + NONCE_BYTES + 16;

/// A secret key. `Debug` shows nothing of it.
#[derive(Clone)]
struct SecretKey {
    /// 1 for the first key; kept with every value it seals.
    version: u8,
    bytes: [u8; KEY_BYTES],
}

/// Secret keys as they are written down: `VERSION:KEY`, newest first, separated by commas or white space; a key is 64
/// hexadecimal digits. A lone key needs no version: it is the first. `Debug` shows nothing of them.
///
/// One of them at least; no two have the same version.
#[derive(Clone)]
pub struct KeyRing(Vec<SecretKey>);

/// The place where a node keeps its secret keys, if it may change them.
pub trait KeyFile: Send + Sync + 'static {
    /// Replaces the kept keys, wholly or not at all. Durable when it returns.
    ///
    /// # Errors
    /// The file cannot be written.
    fn write(&self, keys: &str) -> io::Result<()>;
}

/// The keys with which the node seals and opens.
pub(crate) struct SecretKeys {
    ring: RwLock<KeyRing>,
    file: Option<Arc<dyn KeyFile>>,
    /// Whether the values stored at the start are sealed with another key.
    is_unfit: AtomicBool,
    /// Held while a new key comes in.
    pub(crate) rotation: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let versions = self.0.iter().map(|key| key.version);
        write!(f, "KeyRing(versions {:?})", versions.collect::<Vec<_>>())
    }
}

impl std::fmt::Display for KeyRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0
            .iter()
            .try_for_each(|key| writeln!(f, "{}:{}", key.version, hex::encode(key.bytes)))
    }
}

impl FromStr for KeyRing {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "write each key as 64 hexadecimal digits; if there are several, put the \
                             version before each, newest first: `2:<digits>,1:<digits>`";
        let mut ring: Vec<SecretKey> = Vec::new();
        let items = text.split(|c: char| c == ',' || c.is_ascii_whitespace());
        for item in items.filter(|item| !item.is_empty()) {
            let (version, digits) = item.split_once(':').unwrap_or(("1", item));
            let version = version.parse().ok().filter(|version| *version > 0);
            let bytes = hex::decode(digits).ok().and_then(|b| b.try_into().ok());
            let (Some(version), Some(bytes)) = (version, bytes) else {
                return Err(WRONG);
            };
            if ring.iter().any(|key| key.version == version) {
                return Err("two keys have the same version; number each key once");
            }
            ring.push(SecretKey { version, bytes });
        }
        match ring.is_empty() {
            true => Err(WRONG),
            false => Ok(Self(ring)),
        }
    }
}

impl KeyRing {
    /// A first key.
    pub fn first(bytes: [u8; KEY_BYTES]) -> Self {
        Self(vec![SecretKey { version: 1, bytes }])
    }

    /// Encrypts with the newest key. `purpose` must be given again to open, so that a value cannot be moved elsewhere.
    ///
    /// # Errors
    /// `Internal` for a value that is too large to be encrypted.
    pub fn seal(
        &self,
        env: &Environment,
        purpose: &str,
        plain: &[u8],
    ) -> Result<Sealed, PlatformError> {
        let mut nonce = [0; NONCE_BYTES];
        env.random.fill(&mut nonce);
        let payload = Payload {
            msg: plain,
            aad: purpose.as_bytes(),
        };
        let key = self.newest();
        let sealed = XChaCha20Poly1305::new(&key.bytes.into())
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| PlatformError::Internal("a secret could not be encrypted".to_owned()))?;
        Ok(Sealed([&[key.version], nonce.as_slice(), &sealed].concat()))
    }

    /// The bytes of the value that is sealed.
    pub(crate) fn plain_bytes(sealed: &Sealed) -> usize {
        sealed.0.len().saturating_sub(SEAL_BYTES)
    }

    /// Decrypts a value that [`KeyRing::seal`] gave for the same purpose, with this key or a former
    /// one.
    ///
    /// # Errors
    /// `Conflict` when the value was sealed with a key that is not among these, or changed since.
    pub fn open(&self, purpose: &str, sealed: &Sealed) -> Result<Vec<u8>, PlatformError> {
        let broken = |why: &str| {
            PlatformError::Conflict(format!("a stored secret cannot be decrypted: {why}"))
        };
        let (version, rest) = sealed
            .0
            .split_first()
            .ok_or_else(|| broken("it is empty"))?;
        let key = self.0.iter().find(|key| key.version == *version);
        let key = key.ok_or_else(|| {
            broken("it was encrypted with another secret key; start the node with that key too")
        })?;
        let (nonce, text) = rest
            .split_at_checked(NONCE_BYTES)
            .ok_or_else(|| broken("it is too short"))?;
        let nonce = XNonce::try_from(nonce).map_err(|_| broken("its nonce is malformed"))?;
        let payload = Payload {
            msg: text,
            aad: purpose.as_bytes(),
        };
        XChaCha20Poly1305::new(&key.bytes.into())
            .decrypt(&nonce, payload)
            .map_err(|_| broken("it was encrypted with another secret key, or it was changed"))
    }

    /// Whether a value is sealed with the newest key.
    pub(crate) fn is_newest(&self, sealed: &Sealed) -> bool {
        sealed.0.first() == Some(&self.newest().version)
    }

    /// Whether there are former keys.
    pub(crate) fn has_former(&self) -> bool {
        self.0.len() > 1
    }

    fn newest(&self) -> &SecretKey {
        &self.0[0]
    }

    /// These keys behind a new one.
    fn renewed(&self, env: &Environment) -> Result<Self, PlatformError> {
        let newest = self.newest().version;
        let unused = (newest..=u8::MAX).skip(1).chain(1..newest);
        let version = { unused }
            .find(|version| self.0.iter().all(|key| key.version != *version))
            .ok_or_else(|| {
                PlatformError::Conflict(
                    "there are 255 former keys; restart the node, which drops them, and rotate again"
                        .to_owned(),
                )
            })?;
        let mut bytes = [0; KEY_BYTES];
        env.random.fill(&mut bytes);
        let mut ring = self.clone();
        ring.0.insert(0, SecretKey { version, bytes });
        Ok(ring)
    }
}

impl SecretKeys {
    pub(crate) fn new(ring: KeyRing, file: Option<Arc<dyn KeyFile>>) -> Self {
        Self {
            ring: RwLock::new(ring),
            file,
            is_unfit: AtomicBool::new(false),
            rotation: tokio::sync::Mutex::default(),
        }
    }

    /// Stored secrets are sealed with another key.
    pub(crate) fn note_unfit(&self) {
        self.is_unfit.store(true, Ordering::Relaxed);
    }

    /// Whether the values stored at the start open with these keys.
    pub(crate) fn are_fit(&self) -> bool {
        !self.is_unfit.load(Ordering::Relaxed)
    }

    /// The keys as they are now.
    pub(crate) fn ring(&self) -> KeyRing {
        self.ring.read().clone()
    }

    /// See [`KeyRing::seal`].
    pub(crate) fn seal(
        &self,
        env: &Environment,
        purpose: &str,
        plain: &[u8],
    ) -> Result<Sealed, PlatformError> {
        self.ring.read().seal(env, purpose, plain)
    }

    /// See [`KeyRing::open`].
    pub(crate) fn open(&self, purpose: &str, sealed: &Sealed) -> Result<Vec<u8>, PlatformError> {
        self.ring.read().open(purpose, sealed)
    }

    /// Seals with a new key from now on. It is in the file before anything is sealed with it.
    pub(crate) async fn renew(&self, env: &Environment) -> Result<(), PlatformError> {
        if self.file.is_none() {
            return Err(PlatformError::Conflict(
                "the secret key comes from HEADWATER_SECRET_KEY, which the node cannot change: set it \
                 to `2:<new key>,1:<present key>` (64 hexadecimal digits each) and restart; the start \
                 encrypts everything with the new key"
                    .to_owned(),
            ));
        }
        let ring = self.ring.read().renewed(env)?;
        self.write(&ring).await?;
        *self.ring.write() = ring;
        Ok(())
    }

    /// Keeps the newest key alone, if the node may change the kept keys.
    pub(crate) async fn forget_former(&self) -> Result<(), PlatformError> {
        let ring = KeyRing(vec![self.ring.read().newest().clone()]);
        self.write(&ring).await?;
        *self.ring.write() = ring;
        Ok(())
    }

    async fn write(&self, ring: &KeyRing) -> Result<(), PlatformError> {
        let Some(file) = self.file.clone() else {
            return Ok(());
        };
        let text = ring.to_string();
        let written = tokio::task::spawn_blocking(move || file.write(&text)).await;
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(PlatformError::Internal(format!(
                "the secret keys could not be kept: {error}"
            ))),
            Err(error) => Err(PlatformError::Internal(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    fn ring(text: &str) -> KeyRing {
        let repeated = |item: &str| {
            let (version, digit) = item.split_once(':').unwrap();
            format!("{version}:{}", digit.repeat(64))
        };
        let items: Vec<_> = text.split(' ').map(repeated).collect();
        items.join(",").parse().unwrap()
    }

    #[test]
    fn a_sealed_value_opens_only_with_its_key_and_purpose() {
        let (env, key) = (environment(), KeyRing::first([7; 32]));
        let sealed = key.seal(&env, "account", b"password").unwrap();
        assert_eq!(key.open("account", &sealed).unwrap(), b"password");
        assert!(key.open("other", &sealed).is_err());
        assert!(KeyRing::first([8; 32]).open("account", &sealed).is_err());
        let same_bytes = format!("2:{}", hex::encode([7; 32]));
        let other_version: KeyRing = same_bytes.parse().unwrap();
        assert!(other_version.open("account", &sealed).is_err());
        let mut changed = sealed.clone();
        *changed.0.last_mut().unwrap() ^= 1;
        assert!(key.open("account", &changed).is_err());
        assert!(
            key.open("account", &Sealed(sealed.0[..10].to_vec()))
                .is_err()
        );
    }

    #[test]
    fn the_same_value_never_seals_to_the_same_bytes() {
        let (env, key) = (environment(), KeyRing::first([7; 32]));
        assert_ne!(
            key.seal(&env, "p", b"x").unwrap(),
            key.seal(&env, "p", b"x").unwrap()
        );
    }

    #[test]
    fn the_first_of_several_keys_seals_and_each_opens_its_own() {
        let env = environment();
        let (former, both) = (ring("1:a"), ring("2:b 1:a"));
        let old = former.seal(&env, "p", b"old").unwrap();
        assert_eq!(both.open("p", &old).unwrap(), b"old");
        assert!(!both.is_newest(&old) && both.has_former());
        let new = both.seal(&env, "p", b"new").unwrap();
        assert!(both.is_newest(&new));
        assert_eq!(ring("2:b").open("p", &new).unwrap(), b"new");
        assert!(former.open("p", &new).is_err());
    }

    #[test]
    fn keys_read_back_as_they_are_written_and_shown() {
        let both = ring("2:b 1:a");
        let again: KeyRing = both.to_string().parse().unwrap();
        assert_eq!(again.to_string(), both.to_string());
        assert_eq!(format!("{both:?}"), "KeyRing(versions [2, 1])");
        let lone: KeyRing = format!("{}\n", "a".repeat(64)).parse().unwrap();
        assert_eq!(lone.to_string(), ring("1:a").to_string());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let key = "a".repeat(64);
        for wrong in [
            String::new(),
            "short".to_owned(),
            format!("0:{key}"),
            format!("256:{key}"),
            format!("x:{key}"),
            format!("1:{key},1:{key}"),
            format!("{key} {key}"),
        ] {
            assert!(wrong.parse::<KeyRing>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn versions_are_used_again_when_they_are_free() {
        let env = environment();
        let newest = |text: &str| ring(text).renewed(&env).unwrap().newest().version;
        assert_eq!(newest("1:a"), 2);
        assert_eq!(newest("255:a"), 1);
        assert_eq!(newest("255:a 1:b"), 2);
    }
}
