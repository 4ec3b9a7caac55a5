//! The address of a webhook's deliveries and their signing secrets, as its record says.

use std::sync::Arc;

use headwater_model::time::EpochMs;
use headwater_store::{Sealed, Webhook};
use url::Url;

use super::{
    limits::{Gate, Limits},
    signature::{Signer, purpose},
};
use crate::{error::PlatformError, secrets::SecretKeys};

/// A webhook, ready to be delivered to.
pub(super) struct Target {
    pub(super) webhook: Webhook,
    /// Why nothing can be sent to it, if so.
    pub(super) url: Result<Url, String>,
    pub(super) gate: Gate,
    signer: Signer,
    former: Option<Box<(Signer, EpochMs)>>,
}

impl Target {
    /// Opens the webhook's secrets and reads its URL.
    ///
    /// # Errors
    /// When the present secret cannot be opened.
    pub(super) fn new(
        webhook: Webhook,
        keys: &SecretKeys,
        limits: &Arc<Limits>,
    ) -> Result<Self, PlatformError> {
        let purpose = purpose(&webhook.id);
        let open = |sealed: &Sealed| {
            Signer::new(&keys.open(&purpose, sealed)?).ok_or_else(|| {
                PlatformError::Internal("a webhook's secret is malformed".to_owned())
            })
        };
        // One that no key opens signs nothing; the receiver has had the newer one since the rotation.
        let former = webhook.former_secret.as_ref().and_then(|former| {
            let signer = open(&former.sealed).ok()?;
            Some(Box::new((signer, former.valid_until_ms)))
        });
        let url = Url::parse(&webhook.url)
            .map_err(|error| format!("the webhook's URL cannot be used: {error}"));
        let host = url.as_ref().ok().and_then(Url::host_str);
        Ok(Self {
            signer: open(&webhook.secret)?,
            former,
            gate: limits.gate(host.unwrap_or_default()),
            url,
            webhook,
        })
    }

    /// The secrets that are valid now.
    pub(super) fn signers(&self, now_ms: EpochMs) -> impl Iterator<Item = &Signer> {
        let former = self.former.as_ref();
        let valid = former.filter(|former| now_ms < former.1);
        [&self.signer]
            .into_iter()
            .chain(valid.map(|former| &former.0))
    }
}
