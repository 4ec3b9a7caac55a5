//! The certificates that commands trust: the system's, and those of `--ca-file` besides.

use std::{path::Path, sync::OnceLock};

use anyhow::{Context as _, Result};
use headwater_engine::network::CaCertificates;

use crate::usage_error::UsageError;

/// Those of the file, once it was read.
static OF_FILE: OnceLock<CaCertificates> = OnceLock::new();

/// Trusts the certificates of a file from now on.
///
/// # Errors
/// The file cannot be read, or has no certificates.
pub(crate) fn trust(file: &Path) -> Result<()> {
    let shown = file.display();
    let pem = std::fs::read(file).with_context(|| format!("--ca-file: cannot read {shown}"))?;
    let certificates = CaCertificates::from_pem(&pem)
        .map_err(|error| UsageError(format!("--ca-file: {shown}: {error}")))?;
    // Once in the life of a process.
    let _ = OF_FILE.set(certificates);
    Ok(())
}

/// The beginning of an HTTP client with this trust, which follows no redirects.
pub(crate) fn http_client() -> reqwest::ClientBuilder {
    let of_file = OF_FILE.get().into_iter().flat_map(CaCertificates::roots);
    reqwest::Client::builder()
        .tls_certs_merge(of_file)
        .redirect(reqwest::redirect::Policy::none())
}
