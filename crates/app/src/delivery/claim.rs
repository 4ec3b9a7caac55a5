//! Claiming deliveries of one webhook, together with what its record says now.

use headwater_model::id::WebhookId;
use headwater_store::ClaimedDelivery;

use super::target::Target;
use crate::{app::App, error::AppError};

/// What a claim has brought.
pub(super) struct Claim {
    /// The webhook as it was read before; `None`: it takes no deliveries.
    pub(super) target: Option<Target>,
    pub(super) claimed: Vec<ClaimedDelivery>,
    /// As counted before the webhook was read.
    pub(super) changes: u64,
    pub(super) limit: u32,
}

impl App {
    /// Reads the webhook, then claims deliveries of it.
    pub(super) async fn claim_deliveries(
        &self,
        id: &WebhookId,
        limit: u32,
    ) -> Result<Claim, AppError> {
        let mut claim = Claim {
            changes: self.couriers.changes(),
            target: None,
            claimed: Vec::new(),
            limit,
        };
        let webhook = self.store.webhook(id).await?;
        let Some(webhook) = webhook.filter(|webhook| webhook.active) else {
            return Ok(claim);
        };
        let target = Target::new(webhook, &self.secret_key, &self.couriers.limits)?;
        claim.target = Some(target);
        let (term, now_ms) = (self.lease_term(), self.env.now_ms());
        let claimed = self.store.claim_deliveries(id, term, now_ms, limit);
        claim.claimed = claimed.await?;
        Ok(claim)
    }
}
