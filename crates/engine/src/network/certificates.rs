//! Certificates that are trusted in addition to those of the public authorities.

use std::{
    fmt, fs,
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use sha2::{Digest as _, Sha256};

/// Certificates of authorities whose servers components, webhooks and fetches of code may trust.
#[derive(Clone, PartialEq, Eq)]
pub struct CaCertificates {
    pem: Arc<[u8]>,
    certificates: Vec<CertificateDer<'static>>,
}

/// The text holds no certificates that could be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCertificates {
    /// It is not PEM.
    #[error("it is not PEM: {0}")]
    NotPem(String),
    /// It is PEM of something else.
    #[error("it has no block `-----BEGIN CERTIFICATE-----`")]
    None,
    /// One of them is not a certificate.
    #[error("its certificate number {number} cannot be trusted: {reason}")]
    Unusable {
        /// Counted from one.
        number: usize,
        /// The reason.
        reason: String,
    },
}

impl CaCertificates {
    /// All certificates of a PEM text.
    ///
    /// # Errors
    /// It has none, or one cannot be read.
    pub fn from_pem(pem: &[u8]) -> Result<Self, InvalidCertificates> {
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|error| InvalidCertificates::NotPem(error.to_string()))?;
        if certificates.is_empty() {
            return Err(InvalidCertificates::None);
        }
        for (index, certificate) in certificates.iter().enumerate() {
            let added = RootCertStore::empty().add(certificate.clone());
            added.map_err(|error| InvalidCertificates::Unusable {
                number: index + 1,
                reason: error.to_string(),
            })?;
        }
        Ok(Self {
            pem: pem.into(),
            certificates,
        })
    }

    /// Writes them below `cache_dir` unless they exist: Deno only takes a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn materialise(&self, cache_dir: &Path) -> io::Result<PathBuf> {
        let name = hex::encode(&Sha256::digest(&self.pem)[..8]);
        let path = cache_dir.join(format!("ca-certificates-{name}.pem"));
        if !path.is_file() {
            fs::create_dir_all(cache_dir)?;
            let mut staging = tempfile::NamedTempFile::new_in(cache_dir)?;
            staging.write_all(&self.pem)?;
            staging.persist(&path).map_err(|error| error.error)?;
        }
        // Not secret: workers read it as another user than the node.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
        Ok(path)
    }

    /// The number of certificates.
    pub fn count(&self) -> usize {
        self.certificates.len()
    }

    /// The certificates themselves.
    pub fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.certificates
    }

    /// The certificates as an HTTP client takes them.
    pub fn roots(&self) -> impl Iterator<Item = reqwest::Certificate> {
        let read = |certificate: &CertificateDer<'static>| {
            reqwest::Certificate::from_der(certificate).expect("it was read as a certificate")
        };
        self.certificates.iter().map(read)
    }
}

impl fmt::Debug for CaCertificates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CaCertificates({})", self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_certificate_is_refused() {
        let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        for text in ["", "certificate", key] {
            let read = CaCertificates::from_pem(text.as_bytes());
            assert_eq!(read, Err(InvalidCertificates::None), "{text}");
        }
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let read = CaCertificates::from_pem(broken.as_bytes());
        assert!(
            matches!(read, Err(InvalidCertificates::Unusable { number: 1, .. })),
            "{read:?}"
        );
        let read = CaCertificates::from_pem(b"-----BEGIN CERTIFICATE-----\n%\n");
        assert!(
            matches!(read, Err(InvalidCertificates::NotPem(_))),
            "{read:?}"
        );
    }
}
