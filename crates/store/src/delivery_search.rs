//! Deliveries of all webhooks that somebody may see: found, counted, and changed in numbers.

use async_trait::async_trait;
use headwater_model::{
    event_search::EventMatcher,
    id::{DeliveryId, EmitterId, EventId, WebhookId, WorkspaceId},
    page::PageRequest,
    time::EpochMs,
    webhook::{AnswerKind, DeliveryState},
};

use crate::{error::StoreError, tenants::Viewer, webhooks::Delivery};

/// Deliveries that one search or one count looks at.
pub const DELIVERIES_SEARCHED_MAX: u32 = 10_000;
/// Deliveries whose events one search or one count reads.
pub const DELIVERIES_READ_MAX: u32 = 1_000;
/// Bytes of events that one search or one count reads; the event that reaches the bound is the last one.
pub const DELIVERED_BYTES_READ_MAX: u64 = 32 * 1_024 * 1_024;

/// Deliveries to find; a field that is empty does not filter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeliveryFilter {
    /// Their ids.
    pub ids: Vec<DeliveryId>,
    /// Where they are in their life: in one of these.
    pub states: Vec<DeliveryState>,
    /// The workspace of their webhook.
    pub workspace_id: Option<WorkspaceId>,
    /// Their webhook.
    pub webhook_id: Option<WebhookId>,
    /// The emitter of their event.
    pub emitter: Option<EmitterId>,
    /// Their event.
    pub event: Option<EventId>,
    /// The result of their last attempt.
    pub answer: Option<AnswerKind>,
    /// The earliest dispatch, epoch milliseconds.
    pub since_ms: Option<EpochMs>,
    /// The latest dispatch, epoch milliseconds.
    pub until_ms: Option<EpochMs>,
    /// The conditions on their event and its summary.
    pub matcher: EventMatcher,
}

impl DeliveryFilter {
    /// The states that are wanted, each once.
    pub fn wanted_states(&self) -> Vec<DeliveryState> {
        let all = DeliveryState::ALL.into_iter();
        all.filter(|state| self.states.is_empty() || self.states.contains(state))
            .collect()
    }

    /// Deliveries that one search or one count looks at: fewer where it reads their events.
    pub fn searched_max(&self) -> u32 {
        match self.matcher.is_empty() {
            true => DELIVERIES_SEARCHED_MAX,
            false => DELIVERIES_READ_MAX,
        }
    }
}

/// A page of deliveries.
#[derive(Debug, Clone)]
pub struct FoundDeliveries {
    /// Newest first.
    pub items: Vec<Delivery>,
    /// The place at which the search stopped because it had looked at as many as it may: the next page begins behind it,
    /// in the direction of the search.
    pub searched_to: Option<DeliveryId>,
}

/// A count that goes no further than a bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CappedCount {
    /// Those that were counted.
    pub count: u64,
    /// Whether there may be more.
    pub is_capped: bool,
}

/// Deliveries per state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryCounts {
    /// Pending ones.
    pub pending: CappedCount,
    /// Delivered ones.
    pub delivered: CappedCount,
    /// Dead letters.
    pub dead: CappedCount,
    /// Those that were discarded.
    pub discarded: CappedCount,
}

impl DeliveryCounts {
    /// Those in any state.
    pub fn total(&self) -> CappedCount {
        let all = [self.pending, self.delivered, self.dead, self.discarded];
        CappedCount {
            count: all.iter().map(|one| one.count).sum(),
            is_capped: all.iter().any(|one| one.is_capped),
        }
    }
}

/// A change of many deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryChange {
    /// To make them due at once, those that have ended with a new retry schedule.
    Retry,
    /// To give them up.
    Discard,
}

/// A step of a change of many deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryStep {
    /// The change.
    pub change: DeliveryChange,
    /// The place behind which to begin; `None`: with the oldest.
    pub after: Option<DeliveryId>,
    /// Deliveries to look at.
    pub limit: u32,
    /// Epoch milliseconds.
    pub now_ms: EpochMs,
    /// Whether nothing is written, but told what would be changed.
    pub is_dry: bool,
}

/// The result of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedDeliveries {
    /// Deliveries that were changed.
    pub changed: u64,
    /// Deliveries that were left as they are, because their webhook is not active.
    pub left_out: u64,
    /// The webhooks of changed deliveries, each once.
    pub webhooks: Vec<WebhookId>,
    /// The place behind which the next step begins, if there is more to look at.
    pub continue_after: Option<DeliveryId>,
}

/// The deliveries of a viewer's webhooks, whichever.
///
/// Every method looks at a bounded number of deliveries, in the order of their dispatch. Its cost depends on that number
/// and on the number of the viewer's webhooks, not on how many deliveries there are.
#[async_trait]
pub trait DeliverySearch {
    /// A page of the deliveries that the filter describes, newest first, without the headers of their attempts.
    /// MUST NOT find those to webhooks that the viewer may not see
    /// (`conformance::delivery_search::deliveries_of_other_tenants_are_not_found`).
    /// MUST page both ways over all webhooks
    /// (`conformance::delivery_search::deliveries_of_all_webhooks_are_paged_both_ways`), and find those of the filter alone
    /// (`conformance::delivery_search::deliveries_are_found_by_each_field_of_the_filter`,
    /// `conformance::delivery_search::deliveries_are_found_by_state_and_result`).
    /// MUST find an event's deliveries when the log has trimmed it
    /// (`conformance::delivery_search::an_event_that_is_gone_leads_to_its_deliveries`).
    /// MUST look at [`DeliveryFilter::searched_max`] at most, and say where it stopped
    /// (`conformance::delivery_search::a_search_is_bounded_and_goes_on_where_it_stopped`).
    /// MUST find, count and change those whose event or its summary has what is searched for, and no others
    /// (`conformance::delivery_search::deliveries_are_found_by_the_words_of_their_events`).
    async fn find_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        page: &PageRequest<DeliveryId>,
    ) -> Result<FoundDeliveries, StoreError>;

    /// The deliveries that the filter describes, by state. MUST look at `limit` at most of each state, and say so when there
    /// are more (`conformance::delivery_search::counts_are_capped`).
    async fn count_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        limit: u32,
    ) -> Result<DeliveryCounts, StoreError>;

    /// Looks at a step's deliveries, oldest first, and changes those that the filter describes. Delivered and discarded
    /// ones are not discarded. Calling again with `continue_after` continues.
    /// MUST come to an end, although what was changed may be what the filter describes
    /// (`conformance::delivery_search::many_are_retried_in_bounded_steps`).
    /// MUST leave deliveries of webhooks that are not active as they are when they are to be retried
    /// (`conformance::delivery_search::those_of_inactive_webhooks_are_not_retried`).
    /// MUST discard pending and dead ones alone (`conformance::delivery_search::many_are_discarded_in_bounded_steps`).
    /// MUST change those of the filter's ids alone (`conformance::delivery_search::those_that_were_chosen_are_changed`).
    /// MUST tell in a dry step what the same step would change, and change nothing
    /// (`conformance::delivery_search::a_dry_step_tells_what_would_be_changed`).
    async fn change_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        step: &DeliveryStep,
    ) -> Result<ChangedDeliveries, StoreError>;
}
