//! Claiming deliveries of one webhook, together with its present record.

use std::sync::Arc;

use headwater_model::id::WebhookId;
use headwater_store::{ClaimLimit, ClaimedDelivery};

use super::{context::CourierContext, target::Target};
use crate::error::PlatformError;

/// The result of a claim.
pub(super) struct Claim {
    /// The webhook as it was in the moment of the claim; `None`: it takes no deliveries.
    pub(super) target: Option<Arc<Target>>,
    pub(super) claimed: Vec<ClaimedDelivery>,
    /// As counted before the claim.
    pub(super) changes: u64,
    pub(super) limit: ClaimLimit,
}

impl Claim {
    /// Whether it brought as many deliveries as it might.
    pub(super) fn is_full(&self) -> bool {
        self.claimed.len() == self.limit.deliveries as usize
    }

    /// Whether others may be left because of their number or size.
    pub(super) fn leaves_any(&self) -> bool {
        let events = self.claimed.iter().map(|claimed| &claimed.event.event);
        let bytes: u64 = events.map(|event| event.get().len() as u64).sum();
        self.is_full() || bytes >= self.limit.bytes
    }

    /// Whether others that were attempted before may be left because of their number.
    pub(super) fn leaves_retries(&self) -> bool {
        let attempts = self.claimed.iter().map(|claimed| claimed.attempts);
        attempts.filter(|attempts| *attempts > 0).count() == self.limit.retries as usize
    }
}

impl CourierContext {
    /// Claims deliveries of the webhook, and makes its record ready for them.
    ///
    /// # Errors
    /// Those of the store, and `Internal` when a secret of the webhook cannot be opened: then its leases are given back.
    pub(super) async fn claim_deliveries(
        &self,
        id: &WebhookId,
        changes: u64,
        limit: ClaimLimit,
    ) -> Result<Claim, PlatformError> {
        let permit = self.claims.acquire().await;
        let (store, term) = (&self.core.store, self.core.lease_term());
        let claimed = store.claim_deliveries(id, term, self.core.env.now_ms(), limit);
        let claimed = claimed.await?;
        drop(permit);
        let target = |webhook| Target::new(webhook, &self.secret_keys, &self.limits).map(Arc::new);
        let target = match claimed.webhook.map(target).transpose() {
            Ok(target) => target,
            Err(error) => {
                let leases = claimed.deliveries.into_iter().map(|one| one.lease);
                let leases: Vec<_> = leases.collect();
                if let Err(error) = store.release_deliveries(&leases).await {
                    tracing::warn!(webhook_id = %id, %error, "cannot give leases back; they will expire");
                }
                return Err(error);
            }
        };
        Ok(Claim {
            target,
            claimed: claimed.deliveries,
            changes,
            limit,
        })
    }
}
