//! Deliveries of all webhooks that a caller may see: finding, counting, retrying and discarding them.

use headwater_model::{
    id::{DeliveryId, ListenerId, WebhookId},
    page::PageRequest,
    webhook::DeliveryState,
};
use headwater_store::{
    CappedCount, ChangedDeliveries, Delivery, DeliveryChange, DeliveryCounts, DeliveryFilter,
    DeliveryStep, FoundDeliveries,
};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    changes::Change,
    chore::Chore,
    error::PlatformError,
    platform::Platform,
    use_cases::deliveries::on_delivery,
};

/// Deliveries that one step of a change looks at.
const CHANGE_BATCH: u32 = 500;
/// Dead letters that are counted of each webhook of a list.
const DEAD_COUNTED_MAX: u32 = 1_000;

/// A change of the deliveries that a filter describes.
#[derive(Debug, Clone)]
pub struct ChangeDeliveries {
    /// The change.
    pub change: DeliveryChange,
    /// The deliveries: dead letters, if it names neither a state nor single ones.
    pub filter: DeliveryFilter,
    /// Whether only to count them.
    pub is_dry: bool,
}

/// The extent of a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveriesChanged {
    /// Deliveries that were changed, or would be.
    pub count: u64,
    /// Deliveries that were left, or would be, because their webhook is not active.
    pub left_out: u64,
    /// Whether there are more that were not counted.
    pub is_capped: bool,
}

impl Platform {
    /// A page of deliveries, newest first.
    ///
    /// # Errors
    /// `Invalid` for a range that is none, `NotFound` for a webhook that the caller may not see.
    pub async fn find_deliveries(
        &self,
        caller: &Caller,
        filter: &DeliveryFilter,
        page: &PageRequest<DeliveryId>,
    ) -> Result<FoundDeliveries, PlatformError> {
        self.check_filter(caller, filter).await?;
        let (store, viewer) = (&self.core.store, caller.viewer());
        Ok(store.find_deliveries(&viewer, filter, page).await?)
    }

    /// The deliveries by state, each counted up to [`DeliveryFilter::searched_max`].
    ///
    /// # Errors
    /// Those of [`Platform::find_deliveries`].
    pub async fn count_deliveries(
        &self,
        caller: &Caller,
        filter: &DeliveryFilter,
    ) -> Result<DeliveryCounts, PlatformError> {
        self.check_filter(caller, filter).await?;
        let (store, viewer) = (&self.core.store, caller.viewer());
        let counts = store.count_deliveries(&viewer, filter, filter.searched_max());
        Ok(counts.await?)
    }

    /// The dead letters of each of these webhooks that the caller may see, in their order; so many of each are counted.
    pub async fn dead_letters(
        &self,
        caller: &Caller,
        ids: &[WebhookId],
    ) -> Result<Vec<CappedCount>, PlatformError> {
        let mut counted = Vec::with_capacity(ids.len());
        for id in ids {
            let filter = DeliveryFilter {
                webhook_id: Some(id.clone()),
                states: vec![DeliveryState::Dead],
                ..DeliveryFilter::default()
            };
            let (store, viewer) = (&self.core.store, caller.viewer());
            let counts = store.count_deliveries(&viewer, &filter, DEAD_COUNTED_MAX);
            counted.push(counts.await?.dead);
        }
        Ok(counted)
    }

    /// Gives a pending or dead delivery up. One that is discarded already stays so.
    ///
    /// # Errors
    /// `Conflict` when it has been delivered.
    pub async fn discard_delivery(
        &self,
        caller: &Caller,
        id: &DeliveryId,
    ) -> Result<Delivery, PlatformError> {
        let (_, webhook) = self.visible_delivery(caller, id).await?;
        let now_ms = self.core.env.now_ms();
        if !self.core.store.discard_delivery(id, now_ms).await? {
            return Err(PlatformError::Conflict(format!(
                "delivery `{id}` has been delivered; only pending and dead ones can be discarded"
            )));
        }
        // Its courier may have claimed it, and gives back what it has not attempted.
        self.couriers.webhook_changed(&webhook.id);
        self.core.tell(Change::of_webhook(&webhook));
        let act = on_delivery(AuditAction::DeliveryDiscard, id, &webhook);
        self.record(caller, act).await;
        self.delivery(caller, id).await
    }

    /// Retries or discards deliveries, oldest first, and says how many; a dry run counts up to
    /// [`DeliveryFilter::searched_max`] instead.
    ///
    /// # Errors
    /// Those of [`Platform::find_deliveries`]; `Invalid` if all its states are such in which nothing can be discarded, `Conflict` when
    /// the filter names a webhook that is not active and the deliveries are to be retried.
    pub async fn change_deliveries(
        &self,
        caller: &Caller,
        request: ChangeDeliveries,
    ) -> Result<DeliveriesChanged, PlatformError> {
        let filter = self.filter_of(caller, &request).await?;
        let mut step = DeliveryStep {
            change: request.change,
            after: None,
            limit: CHANGE_BATCH,
            now_ms: self.core.env.now_ms(),
            is_dry: request.is_dry,
        };
        if step.is_dry {
            step.limit = filter.searched_max();
        }
        let (store, viewer) = (&self.core.store, caller.viewer());
        let mut all = DeliveriesChanged::default();
        loop {
            let done = store.change_deliveries(&viewer, &filter, &step).await?;
            all.count += done.changed;
            all.left_out += done.left_out;
            if step.is_dry {
                all.is_capped = done.continue_after.is_some();
                return Ok(all);
            }
            self.note_change(request.change, &done).await?;
            if done.continue_after.is_none() {
                let act = self.on_deliveries(caller, request.change, &filter, all);
                self.record(caller, act.await).await;
                return Ok(all);
            }
            step.after = done.continue_after;
        }
    }

    /// An act on the deliveries of a filter: on its webhook, or else on all that the caller may see.
    async fn on_deliveries(
        &self,
        caller: &Caller,
        change: DeliveryChange,
        filter: &DeliveryFilter,
        changed: DeliveriesChanged,
    ) -> Act {
        let action = match change {
            DeliveryChange::Retry => AuditAction::DeliveryRetry,
            DeliveryChange::Discard => AuditAction::DeliveryDiscard,
        };
        let webhook = match &filter.webhook_id {
            Some(id) => self.webhook(caller, id).await.ok(),
            None => None,
        };
        let act = match &webhook {
            Some(webhook) => Act::on_webhook(action, webhook),
            None => {
                let which = if filter.ids.is_empty() {
                    "all"
                } else {
                    "selected"
                };
                Act::new(action, "deliveries", which).of_user(caller.user_id())
            }
        };
        let act = act
            .with("count", changed.count)
            .with("left_out", changed.left_out);
        let emitter = filter.emitter.as_ref().map(|id| id.as_str());
        let act = act.with_some("emitter_id", emitter);
        act.with_some("status", filter.answer.map(|answer| answer.to_string()))
    }

    /// Lets the couriers, and those who look at the deliveries, learn of a change.
    async fn note_change(
        &self,
        change: DeliveryChange,
        done: &ChangedDeliveries,
    ) -> Result<(), PlatformError> {
        let ids = done.webhooks.iter().cloned().map(ListenerId::Webhook);
        let ids: Vec<_> = ids.collect();
        for named in self.core.store.names(&ids).await? {
            if let ListenerId::Webhook(id) = named.id {
                self.core.tell(Change::Webhook(id, named.owner));
            }
        }
        match change {
            DeliveryChange::Retry if done.changed > 0 => {
                self.core.nudges.nudge(Chore::Deliveries);
            }
            DeliveryChange::Retry => {}
            DeliveryChange::Discard => {
                for id in &done.webhooks {
                    self.couriers.webhook_changed(id);
                }
            }
        }
        Ok(())
    }

    async fn check_filter(
        &self,
        caller: &Caller,
        filter: &DeliveryFilter,
    ) -> Result<(), PlatformError> {
        if let (Some(since_ms), Some(until_ms)) = (filter.since_ms, filter.until_ms)
            && until_ms < since_ms
        {
            let reason = "`until` must not be before `since`";
            return Err(PlatformError::invalid("until", reason));
        }
        if let Some(id) = &filter.workspace_id {
            self.check_member(caller, id).await?;
        }
        match &filter.webhook_id {
            Some(id) => self.webhook(caller, id).await.map(drop),
            None => Ok(()),
        }
    }

    /// The filter of a change, which later deliveries do not prolong.
    async fn filter_of(
        &self,
        caller: &Caller,
        request: &ChangeDeliveries,
    ) -> Result<DeliveryFilter, PlatformError> {
        let mut filter = request.filter.clone();
        self.check_filter(caller, &filter).await?;
        if filter.states.is_empty() && filter.ids.is_empty() {
            filter.states = vec![DeliveryState::Dead];
        }
        match request.change {
            DeliveryChange::Discard => {
                filter.states = filter.wanted_states();
                let is_possible = |state: &DeliveryState| {
                    matches!(state, DeliveryState::Pending | DeliveryState::Dead)
                };
                filter.states.retain(is_possible);
                if filter.states.is_empty() {
                    let reason = "only `pending` and `dead` deliveries can be discarded";
                    return Err(PlatformError::invalid("state", reason));
                }
            }
            DeliveryChange::Retry => {
                if let Some(id) = &filter.webhook_id {
                    self.check_active(&self.webhook(caller, id).await?).await?;
                }
            }
        }
        let now_ms = self.core.env.now_ms();
        filter.until_ms = Some(filter.until_ms.map_or(now_ms, |until| until.min(now_ms)));
        Ok(filter)
    }
}
