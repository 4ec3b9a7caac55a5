//! The events of deliveries as lists show them, and the names of both their sides.

use headwater_model::id::ListenerId;
use headwater_platform::{Delivery, KnownNames, PlatformError};

use crate::{part::text::cut, state::Ui, visit::Visitor};

/// Characters of an event without a summary that a row shows.
const EVENT_CHARS: usize = 60;

/// The line that tells a delivery's event from others: its summary, or its beginning.
pub(crate) fn summary(delivery: &Delivery) -> String {
    match &delivery.summary {
        Some(summary) if !summary.trim().is_empty() => summary.clone(),
        _ => {
            let (shown, is_cut) = cut(delivery.event.event.get(), EVENT_CHARS);
            format!("{shown}{}", if is_cut { "…" } else { "" })
        }
    }
}

/// The names of the emitters and webhooks of deliveries.
pub(crate) async fn names_of(
    ui: &Ui,
    visitor: &Visitor,
    deliveries: &[Delivery],
) -> Result<KnownNames, PlatformError> {
    let emitters = deliveries.iter().map(|one| one.event.emitter.clone());
    let webhooks = deliveries
        .iter()
        .map(|one| ListenerId::Webhook(one.webhook_id.clone()));
    let names = ui.platform.names(visitor.caller(), emitters, webhooks);
    names.await
}
