//! The events of deliveries as lists show them, and the names of both their sides.

use headwater_model::id::ListenerId;
use headwater_platform::{Delivery, KnownNames, PlatformError};

use crate::{state::Ui, visit::Visitor};

/// Characters of an event that a row shows.
pub(crate) const EVENT_CHARS: usize = 60;

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
