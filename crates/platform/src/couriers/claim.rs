//! Claiming deliveries of one webhook, together with its present record.

use std::sync::Arc;

use headwater_model::id::WebhookId;
use headwater_store::{ClaimLimit, ClaimedDelivery, DeliveryLease, StoreError};

use super::{context::CourierContext, target::Target};
use crate::{actor::Claims, error::PlatformError};

/// The result of a claim.
pub(super) struct Claim {
    /// The webhook as it was in the moment of the claim; `None`: it takes no deliveries.
    pub(super) target: Option<Arc<Target>>,
    pub(super) claimed: Vec<ClaimedDelivery>,
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
    /// Claims deliveries of the webhook, and makes its record ready for them. Leases that are `returned` are given back
    /// first. `None`: the store is away, and it is time to try again.
    ///
    /// # Errors
    /// Other errors of the store, and `Internal` when a secret of the webhook cannot be opened: then its leases are given back.
    pub(super) async fn claim_deliveries(
        &self,
        id: &WebhookId,
        claims: &Claims,
        limit: ClaimLimit,
        returned: &[DeliveryLease],
    ) -> Result<Option<Claim>, PlatformError> {
        let (core, store) = (&self.core, &self.core.store);
        let claim = |term| async move {
            let _permit = self.claims.acquire().await;
            if !returned.is_empty() {
                store.release_deliveries(returned).await?;
            }
            let now_ms = core.env.now_ms();
            store.claim_deliveries(id, term, now_ms, limit).await
        };
        let give_back = |term| async move {
            let _permit = self.claims.acquire().await;
            store.release_delivery_claim(id, term).await
        };
        let claimed = match claims.claim(core, claim, give_back).await {
            Err(StoreError::Unavailable { .. }) => return Ok(None),
            claimed => claimed?,
        };
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
        Ok(Some(Claim {
            target,
            claimed: claimed.deliveries,
            limit,
        }))
    }
}
