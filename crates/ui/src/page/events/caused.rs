//! The consequences of an event: its deliveries to webhooks, and the runs of those who listen.

use headwater_model::{
    event::EventRef,
    id::ListenerId,
    page::{Page as Listed, PageRequest},
};
use headwater_platform::{
    CappedCount, DeliveryFilter, FoundDeliveries, KnownNames, ListenerRun, PlatformError,
};
use maud::{Markup, html};

use crate::{
    page::deliveries::list::{capped, is_retryable},
    part::{
        delivery::{answer, delivery_state},
        name::{self, named},
        text, time,
    },
    state::Ui,
    visit::Visitor,
};

/// Runs and deliveries that are shown; the lists have the others.
const SHOWN: u32 = 20;

/// The newest consequences. The event itself may be gone.
pub(super) struct Caused {
    runs: Listed<ListenerRun>,
    deliveries: FoundDeliveries,
    total: CappedCount,
    can_retry: bool,
    /// The names of the emitter and of all who got the event.
    pub(super) names: KnownNames,
}

impl Caused {
    pub(super) async fn by(
        ui: &Ui,
        visitor: &Visitor,
        of: &EventRef,
    ) -> Result<Self, PlatformError> {
        let (platform, caller) = (&ui.platform, visitor.caller());
        let first = PageRequest::first(SHOWN);
        let runs = match platform.event_runs(caller, of, &first).await {
            // Neither the event nor a run is kept.
            Err(PlatformError::EventGone { .. }) => Listed {
                items: Vec::new(),
                total_count: 0,
            },
            runs => runs?,
        };
        let filter = DeliveryFilter {
            emitter: Some(of.emitter.clone()),
            event: Some(of.id),
            ..DeliveryFilter::default()
        };
        let first = PageRequest::first(SHOWN);
        let deliveries = platform.find_deliveries(caller, &filter, &first).await?;
        let counts = platform.count_deliveries(caller, &filter).await?;
        let webhooks = deliveries.items.iter();
        let webhooks = webhooks.map(|one| ListenerId::Webhook(one.webhook_id.clone()));
        let listeners = runs.items.iter().map(|one| one.listener.clone().into());
        let emitters = [of.emitter.clone()];
        let names = platform.names(caller, emitters, webhooks.chain(listeners));
        Ok(Self {
            names: names.await?,
            runs,
            deliveries,
            total: counts.total(),
            can_retry: is_retryable(&counts),
        })
    }

    /// The deliveries; `none` says why there are none.
    pub(super) fn delivered(&self, of: &EventRef, none: &str) -> Markup {
        html! {
            @if self.deliveries.items.is_empty() { p.note { (none) } }
            @else {
                p.note { a href={ "/deliveries?state=any&emitter=" (of.emitter) "&event=" (of.id) } { (capped(self.total)) " in all" }
                    @if self.can_retry { ", " a href={ "/deliveries/retry?emitter=" (of.emitter) "&event=" (of.id) } { "send all again" } }
                }
                table.list {
                    thead { tr { th scope="col" { "Webhook" } th scope="col" { "State" } th.number scope="col" { "Attempts" } th scope="col" { "Last answer" } } }
                    tbody { @for delivery in &self.deliveries.items { tr data-row=(delivery.id) {
                        td { a href={ "/deliveries/" (delivery.id) } { (named(self.names.of(&ListenerId::Webhook(delivery.webhook_id.clone())), delivery.webhook_id.as_str())) } }
                        td data-label="State" { (delivery_state(delivery.state)) }
                        td.number data-label="Attempts" { (delivery.attempts.len()) }
                        td data-label="Last answer" { @if let Some(last) = delivery.attempts.last() { (answer(last)) } }
                    } } }
                }
            }
        }
    }

    /// The runs of sources and workflows.
    pub(super) fn ran(&self, visitor: &Visitor) -> Markup {
        html! {
            @if self.runs.items.is_empty() { p.note { "No source or workflow ran for it, or their runs are not kept any more." } }
            @else {
                table.list {
                    thead { tr { th scope="col" { "Listener" } th scope="col" { "Run" } th scope="col" { "Error" } } }
                    tbody { @for one in &self.runs.items { tr data-row=(one.run.id) {
                        td { (name::listener(&self.names, &one.listener.clone().into())) }
                        td data-label="Run" { a href={ "/runs/" (one.run.id) } { (time::ago(one.run.queued_at_ms, visitor.now_ms)) } }
                        td data-label="Error" { @if let Some(error) = &one.run.error { (text::line(error)) } }
                    } } }
                }
            }
        }
    }
}
