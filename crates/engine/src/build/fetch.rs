//! Fetching modules over HTTP, within the network policy and within bounds.

use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use url::Url;

use super::{
    failure::{BuildResult, not_fetched},
    repository::raw_address,
};
use crate::{
    api::EngineError,
    network::{CaCertificates, NetworkPolicy, check_host, http_client},
};

/// The maximum size of a module.
const MODULE_BYTES: usize = 5 * 1024 * 1024;
/// From connecting to the last byte of one module.
const TIMEOUT: Duration = Duration::from_secs(20);
const REDIRECTS_MAX: usize = 5;

/// Fetches modules.
#[derive(Debug)]
pub(super) struct ModuleFetcher {
    client: reqwest::Client,
    policy: NetworkPolicy,
}

/// A fetched module.
#[derive(Debug)]
pub(super) struct FetchedModule {
    /// Its address after redirects, against which its relative imports are resolved.
    pub(super) url: Url,
    /// Its text.
    pub(super) code: String,
}

impl ModuleFetcher {
    pub(super) fn new(
        policy: NetworkPolicy,
        ca: Option<&CaCertificates>,
    ) -> Result<Self, EngineError> {
        let client = http_client(&policy, ca, REDIRECTS_MAX, TIMEOUT)?;
        Ok(Self { client, policy })
    }

    /// Fetches the module at `url`, or at the page about it; `None` when there is none (404).
    pub(super) async fn fetch(&self, url: &Url) -> BuildResult<Option<FetchedModule>> {
        let address = raw_address(url);
        if !matches!(address.scheme(), "http" | "https") {
            return Err(not_fetched(format!("{url} is not an http or https URL")));
        }
        check_host(&self.policy, &address)
            .map_err(|refused| not_fetched(format!("{url}: {refused}")))?;
        let failed = |error: reqwest::Error| not_fetched(format!("{url}: {}", causes(&error)));
        let request = self.client.get(address).header(ACCEPT_ENCODING, "identity");
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status();
        if status == reqwest::StatusCode::NOT_FOUND {
            return Ok(None);
        }
        if !status.is_success() {
            return Err(not_fetched(format!("{url} answered {status}")));
        }
        let encoding = response.headers().get(CONTENT_ENCODING);
        if let Some(encoding) = encoding.filter(|encoding| *encoding != "identity") {
            let encoding = String::from_utf8_lossy(encoding.as_bytes()).into_owned();
            return Err(not_fetched(format!(
                "{url} answered compressed ({encoding}) though only plain text was accepted; serve the file as it is"
            )));
        }
        let content_type = response.headers().get(CONTENT_TYPE);
        if content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/html")) {
            return Err(not_fetched(format!(
                "{url} is a web page, not a module; give the URL of the file itself"
            )));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if bytes.len() + chunk.len() > MODULE_BYTES {
                return Err(not_fetched(format!(
                    "{url} is larger than {} MiB",
                    MODULE_BYTES >> 20
                )));
            }
            bytes.extend_from_slice(&chunk);
        }
        let code = String::from_utf8(bytes)
            .map_err(|_| not_fetched(format!("{url} is not UTF-8 text")))?;
        Ok(Some(FetchedModule {
            url: response.url().clone(),
            code,
        }))
    }
}

/// The innermost reason: reqwest's own text only repeats the URL.
fn causes(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
