//! Sending one kept event to an address once, without a webhook (docs/guide/following-events.md, "One event to a URL").

use headwater_model::{event::EventRef, id::EmitterId};
use headwater_store::Attempt;
use url::Url;

use super::webhooks::address;
use crate::{
    audit::{Act, AuditAction, host},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
};

impl Platform {
    /// Posts an event to an address once, as a webhook would get it but unsigned, and waits for the answer. Nothing of it
    /// is kept, and nothing is subscribed.
    ///
    /// # Errors
    /// `Invalid` for a URL that nothing may be sent to, `EventGone` when the log does not have the event, `Conflict` while
    /// as many attempts as the host may have are in flight.
    pub async fn send_event(
        &self,
        caller: &Caller,
        of: &EventRef,
        url: &str,
    ) -> Result<Attempt, PlatformError> {
        let logged = self.event(caller, of).await?;
        let url = address::checked(url, &self.core.config.deliveries.network)?;
        let target = Url::parse(&url).map_err(|error| PlatformError::invalid("url", error))?;
        let act = match &of.emitter {
            EmitterId::Source(id) => Act::on_source(
                AuditAction::EventSend,
                &self.visible_source(caller, id).await?,
            ),
            EmitterId::Workflow(id) => Act::on_workflow(
                AuditAction::EventSend,
                &self.visible_workflow(caller, id).await?,
            ),
        };
        let attempt = self.couriers.send_once(of, &logged.event, target).await?;
        let act = act.with("event_id", of.id.to_string());
        self.record(caller, act.with("host", host(&url))).await;
        Ok(attempt)
    }
}
