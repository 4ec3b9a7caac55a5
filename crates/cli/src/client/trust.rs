//! The certificates that commands trust: the system's, and those of `--ca-file` besides. A server's own certificate in that
//! file is enough, whoever has signed it: people make such certificates for nodes of their own.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use anyhow::{Context as _, Result};
use headwater_engine::network::CaCertificates;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use rustls_platform_verifier::Verifier;

use crate::usage_error::UsageError;

/// The trust of a file, once it was read.
static OF_FILE: OnceLock<ClientConfig> = OnceLock::new();

/// Trusts the certificates of a file from now on.
///
/// # Errors
/// The file cannot be read, or has no certificates.
pub(crate) fn trust(file: &Path) -> Result<()> {
    let shown = file.display();
    let refused = |reason: &dyn std::fmt::Display| {
        UsageError(format!(
            "--ca-file: {shown}: {reason}; give the PEM file of the node's certificate, or of the authority that has signed \
             it, with --ca-file or HEADWATER_CA_FILE"
        ))
    };
    let pem = std::fs::read(file).map_err(|error| refused(&format!("cannot read it: {error}")))?;
    let certificates = CaCertificates::from_pem(&pem).map_err(|error| refused(&error))?;
    let config = trusting(certificates.certificates().to_vec()).context("--ca-file")?;
    // Once in the life of a process.
    let _ = OF_FILE.set(config);
    Ok(())
}

/// The beginning of an HTTP client with this trust, which follows no redirects.
pub(crate) fn http_client() -> reqwest::ClientBuilder {
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    match OF_FILE.get() {
        Some(config) => builder.tls_backend_preconfigured(config.clone()),
        None => builder,
    }
}

/// The settings of a client that trusts the system's authorities, and these certificates.
///
/// # Errors
/// The system's authorities cannot be read.
pub(crate) fn trusting(given: Vec<CertificateDer<'static>>) -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let others = Verifier::new_with_extra_roots(given.clone(), Arc::clone(&provider))?;
    let verifier = OwnOrSigned { given, others };
    let mut config = builder(provider)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn builder(
    provider: Arc<CryptoProvider>,
) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>> {
    Ok(ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?)
}

/// Takes a certificate that is signed by a trusted authority, or is itself one of those that were given.
#[derive(Debug)]
struct OwnOrSigned {
    given: Vec<CertificateDer<'static>>,
    others: Verifier,
}

impl ServerCertVerifier for OwnOrSigned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let signed = self.others.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        let is_given = || self.given.iter().any(|given| given == end_entity);
        match signed {
            Err(rustls::Error::InvalidCertificate(error)) if is_unsigned(&error) && is_given() => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.others.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.others.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.others.supported_verify_schemes()
    }
}

/// Whether nothing but the signature of an authority is missing: a self-signed certificate is refused as one that is
/// an authority's, or that nobody known has signed. A wrong name and an end that has passed stay errors.
fn is_unsigned(error: &CertificateError) -> bool {
    // The text is all that tells one kind apart.
    *error == CertificateError::UnknownIssuer || format!("{error:?}").contains("CaUsedAsEndEntity")
}
