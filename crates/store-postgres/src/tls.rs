//! TLS to the server, as the parameters `sslmode` and `sslrootcert` of a URL ask for it. They mean what they mean to other
//! clients of PostgreSQL: without `verify-full` the connection is encrypted, and the server's certificate is not checked.

use std::sync::Arc;

use headwater_store::StoreError;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The parameter that asks for TLS.
const MODE: &str = "sslmode";
/// The PEM file with the certificates of authorities.
const AUTHORITIES: &str = "sslrootcert";

/// A URL without what the driver does not know of TLS, and the way to encrypt connections.
///
/// # Errors
/// `Unavailable` when the authorities cannot be read.
pub(crate) fn of(url: &str) -> Result<(String, MakeRustlsConnect), StoreError> {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut kept, mut is_checked, mut authorities) = (Vec::new(), false, None);
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some((MODE, "verify-full" | "verify-ca")) => {
                is_checked = true;
                kept.push("sslmode=require");
            }
            Some((AUTHORITIES, file)) => {
                is_checked = true;
                authorities = Some(file);
            }
            _ => kept.push(parameter),
        }
    }
    let checking = match is_checked {
        true => checked(authorities)?,
        false => unchecked(),
    };
    let url = match kept.is_empty() {
        true => address.to_owned(),
        false => format!("{address}?{}", kept.join("&")),
    };
    Ok((url, MakeRustlsConnect::new(checking)))
}

/// Accepts the certificates of these authorities, or of the system's, for the host that was asked for.
fn checked(file: Option<&str>) -> Result<ClientConfig, StoreError> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(file) => {
            let unreadable =
                |error| StoreError::unavailable("reading the certificates of sslrootcert", error);
            for certificate in CertificateDer::pem_file_iter(file).map_err(unreadable)? {
                let added = roots.add(certificate.map_err(unreadable)?);
                added.map_err(|error| {
                    StoreError::unavailable("reading the certificates of sslrootcert", error)
                })?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let config = builder().with_root_certificates(roots);
    Ok(config.with_no_client_auth())
}

/// Accepts every certificate: whoever can answer in the server's place is not found out.
fn unchecked() -> ClientConfig {
    let verifier = Arc::new(AnyServer(ring::default_provider()));
    let config = builder()
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    config.with_no_client_auth()
}

fn builder() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let versions = builder.with_safe_default_protocol_versions();
    versions.expect("the provider knows the default versions")
}

#[derive(Debug)]
struct AnyServer(CryptoProvider);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
