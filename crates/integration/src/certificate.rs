//! Certificates of the tests' authority in files, for servers that read them from there, and a node that speaks HTTPS with one.

use std::path::PathBuf;

use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use tempfile::TempDir;

use crate::{
    https::{CERT, authority, certificate},
    node::NodeBuilder,
};

/// A certificate for the loopback address and its key, in files that a server reads.
pub struct CertificateFiles {
    folder: TempDir,
    hosts: Vec<String>,
}

impl CertificateFiles {
    /// Issues the first certificate of a node on the loopback interface.
    #[expect(
        clippy::new_without_default,
        reason = "it writes files, which nothing that is there by default does"
    )]
    pub fn new() -> Self {
        Self::of(&["127.0.0.1", "localhost"])
    }

    /// Issues the first certificate of these hosts.
    pub fn of(hosts: &[&str]) -> Self {
        let folder = TempDir::with_prefix("headwater-certificate-").unwrap();
        let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        let files = Self { folder, hosts };
        std::fs::write(files.authority(), authority()).unwrap();
        files.renew();
        files
    }

    /// The certificate of the authority, for clients.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// The certificate chain.
    pub fn cert(&self) -> PathBuf {
        self.folder.path().join("chain.pem")
    }

    /// The key.
    pub fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    /// Issues another certificate in place of the former.
    pub fn renew(&self) {
        let hosts: Vec<_> = self.hosts.iter().map(String::as_str).collect();
        let (certificate, key) = certificate(&hosts);
        std::fs::write(self.cert(), certificate).unwrap();
        std::fs::write(self.key(), key).unwrap();
    }

    /// The certificate, as a server shows it.
    pub fn shown(&self) -> Vec<u8> {
        let certificate = CertificateDer::from_pem_file(self.cert()).unwrap();
        certificate.to_vec()
    }
}

impl NodeBuilder {
    /// Speaks HTTPS with that certificate.
    #[must_use]
    pub fn encrypted(self, files: &CertificateFiles) -> Self {
        self.flag(&format!("{CERT}{}", files.cert().display()))
            .flag(&format!("--tls-key={}", files.key().display()))
    }
}
