//! The tokens in the URLs of files: they name tenant, path and end, and are signed.

use headwater_model::time::EpochMs;
use headwater_store::FilePath;

use crate::signing_key::SigningKey;

/// A file for whoever has the URL, until a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) tenant: String,
    pub(super) path: FilePath,
    pub(super) expires_at_ms: EpochMs,
}

/// The key that signs them.
pub(super) struct LinkKey(pub(super) SigningKey);

impl LinkKey {
    /// The token of a link, which names it as `<end> <tenant> <path>`.
    pub(super) fn token(&self, link: &Link) -> String {
        let Link {
            tenant,
            path,
            expires_at_ms,
        } = link;
        self.0
            .token(&format!("{} {tenant} {path}", expires_at_ms.0))
    }

    /// The link that a token names; `None` for one that this installation did not create.
    pub(super) fn link(&self, token: &str) -> Option<Link> {
        let name = self.0.name(token)?;
        let mut parts = name.splitn(3, ' ');
        let expires_at_ms = EpochMs(parts.next()?.parse().ok()?);
        let tenant = parts.next()?.to_owned();
        let path = parts.next()?.parse().ok()?;
        Some(Link {
            tenant,
            path,
            expires_at_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_link() {
        let key = LinkKey(SigningKey([7; 64]));
        let link = Link {
            tenant: "u_1".to_owned(),
            path: "a b/c  ü.txt".parse().unwrap(),
            expires_at_ms: EpochMs(17),
        };
        assert_eq!(key.link(&key.token(&link)), Some(link.clone()));
        assert_eq!(LinkKey(SigningKey([8; 64])).link(&key.token(&link)), None);
        for name in ["", "17", "17 u_1", "17 u_1 /", "x u_1 a"] {
            assert_eq!(key.link(&key.0.token(name)), None, "{name}");
        }
    }
}
