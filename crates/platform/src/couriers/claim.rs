//! Claiming deliveries of one webhook, together with its present record.

use headwater_model::id::WebhookId;
use headwater_store::{ClaimLimit, ClaimedDelivery};

use super::{context::CourierContext, target::Target};
use crate::error::PlatformError;

/// The result of a claim.
pub(super) struct Claim {
    /// The webhook as it was read before; `None`: it takes no deliveries.
    pub(super) target: Option<Target>,
    pub(super) claimed: Vec<ClaimedDelivery>,
    /// As counted before the webhook was read.
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
    /// Reads the webhook, then claims deliveries of it.
    pub(super) async fn claim_deliveries(
        &self,
        id: &WebhookId,
        changes: u64,
        limit: ClaimLimit,
    ) -> Result<Claim, PlatformError> {
        let mut claim = Claim {
            changes,
            target: None,
            claimed: Vec::new(),
            limit,
        };
        let webhook = self.core.store.webhook(id).await?;
        let Some(webhook) = webhook.filter(|webhook| webhook.active) else {
            return Ok(claim);
        };
        let target = Target::new(webhook, &self.secret_keys, &self.limits)?;
        claim.target = Some(target);
        let (term, now_ms) = (self.core.lease_term(), self.core.env.now_ms());
        let claimed = self.core.store.claim_deliveries(id, term, now_ms, limit);
        claim.claimed = claimed.await?;
        Ok(claim)
    }
}
