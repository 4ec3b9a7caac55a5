//! A server's certificate and key, read from PEM. Knows nothing of files.

use std::sync::Arc;

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

/// The reason why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidCertificate {
    /// The chain has no certificate, or one that cannot be read.
    #[error(
        "the certificate chain holds no readable certificate; give it as PEM, the server's own first"
    )]
    Chain,
    /// The key cannot be read.
    #[error("the private key cannot be read; give it as PEM, without a passphrase")]
    Key,
    /// The key does not belong to the certificate, or is of an unknown kind.
    #[error("the certificate and its key cannot be used together: {0}")]
    Pair(rustls::Error),
}

/// The TLS settings of a server with this certificate chain and private key, both as PEM.
///
/// # Errors
///
/// The PEM cannot be read, or key and certificate do not match.
pub fn tls_config(chain: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, InvalidCertificate> {
    let chain = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| InvalidCertificate::Chain)?;
    if chain.is_empty() {
        return Err(InvalidCertificate::Chain);
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| InvalidCertificate::Key)?;
    // Named, so that nothing hangs on which library of the process installed a default first.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(InvalidCertificate::Pair)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(InvalidCertificate::Pair)?;
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertifiedKey, generate_simple_self_signed};

    use super::*;

    fn pair() -> (String, String) {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        (cert.pem(), signing_key.serialize_pem())
    }

    #[test]
    fn a_certificate_and_its_key_are_read() {
        let (chain, key) = pair();
        assert!(tls_config(chain.as_bytes(), key.as_bytes()).is_ok());
    }

    #[test]
    fn the_message_says_which_of_the_two_is_wrong() {
        let (chain, key) = pair();
        let (_, other) = pair();
        let chain_error = tls_config(b"no PEM", key.as_bytes()).unwrap_err();
        assert!(matches!(chain_error, InvalidCertificate::Chain));
        let key_error = tls_config(chain.as_bytes(), b"no PEM").unwrap_err();
        assert!(matches!(key_error, InvalidCertificate::Key));
        let pair_error = tls_config(chain.as_bytes(), other.as_bytes()).unwrap_err();
        assert!(matches!(pair_error, InvalidCertificate::Pair(_)));
    }
}
