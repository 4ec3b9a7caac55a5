//! One event of a source or workflow, and what it caused (docs/api-design.md, "Events").

use headwater_model::{
    event::EventRef,
    id::{DeliveryId, EmitterId, EventId, InvocationId, RunnableId},
    page::{Page, PageRequest},
};
use headwater_store::{CappedCount, DeliveryFilter, FoundDeliveries, ListedRun, LoggedEvent};

use crate::{
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    use_cases::{
        runs::{DELIVERIES_MAX, RunDeliveries, up_to},
        workflows::WorkflowRunSummary,
    },
};

/// A run of a listening source or workflow.
#[derive(Debug, Clone)]
pub struct ListenerRun {
    /// The source or workflow.
    pub listener: RunnableId,
    /// The run.
    pub run: WorkflowRunSummary,
}

impl Platform {
    /// An event of an emitter that the caller may see.
    ///
    /// # Errors
    /// `EventGone` when the log does not have it.
    pub async fn event(
        &self,
        caller: &Caller,
        of: &EventRef,
    ) -> Result<LoggedEvent, PlatformError> {
        self.check_visible(caller, &of.emitter).await?;
        let found = self.core.store.event(of).await?;
        found.ok_or_else(|| self.gone(of))
    }

    /// A page of the runs that an event caused at listeners that the caller may see, newest first. The event itself
    /// may be gone.
    ///
    /// # Errors
    /// `EventGone` when the log does not have the event, and no run is kept.
    pub async fn event_runs(
        &self,
        caller: &Caller,
        of: &EventRef,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<ListenerRun>, PlatformError> {
        self.check_visible(caller, &of.emitter).await?;
        let store = &self.core.store;
        let found = store.caused_runs(of, &caller.viewer(), page).await?;
        self.check_known(of, found.total_count).await?;
        let mut items = Vec::with_capacity(found.items.len());
        for run in &found.items {
            items.push(self.listener_run(run).await?);
        }
        Ok(Page {
            total_count: found.total_count,
            items,
        })
    }

    /// A page of an event's deliveries to webhooks that the caller may see, newest first, and how many there are. The
    /// event itself may be gone.
    ///
    /// # Errors
    /// `EventGone` when the log does not have the event, and no delivery of it is kept.
    pub async fn event_deliveries(
        &self,
        caller: &Caller,
        of: &EventRef,
        page: &PageRequest<DeliveryId>,
    ) -> Result<(FoundDeliveries, CappedCount), PlatformError> {
        self.check_visible(caller, &of.emitter).await?;
        let filter = DeliveryFilter {
            emitter: Some(of.emitter.clone()),
            event: Some(of.id),
            ..DeliveryFilter::default()
        };
        let found = self.find_deliveries(caller, &filter, page).await?;
        let total = self.count_deliveries(caller, &filter).await?.total();
        self.check_known(of, total.count).await?;
        Ok((found, total))
    }

    /// The deliveries of an emitter's events, for each of them the first ones, in the order of the ids.
    ///
    /// # Errors
    /// `NotFound` for an emitter that the caller may not see.
    pub async fn deliveries_of_events(
        &self,
        caller: &Caller,
        emitter: &EmitterId,
        ids: &[EventId],
    ) -> Result<Vec<RunDeliveries>, PlatformError> {
        self.check_visible(caller, emitter).await?;
        let store = &self.core.store;
        let found = store.deliveries_of(emitter, ids, DELIVERIES_MAX + 1);
        let found = found.await?.into_iter();
        let shown = found.map(|deliveries| {
            let (shown, has_more) = up_to(deliveries, DELIVERIES_MAX);
            RunDeliveries { shown, has_more }
        });
        Ok(shown.collect())
    }

    /// Checks that the caller may see the emitter.
    ///
    /// # Errors
    /// `NotFound` otherwise.
    pub(super) async fn check_visible(
        &self,
        caller: &Caller,
        emitter: &EmitterId,
    ) -> Result<(), PlatformError> {
        match emitter {
            EmitterId::Source(id) => self.visible_source(caller, id).await.map(drop),
            EmitterId::Workflow(id) => self.visible_workflow(caller, id).await.map(drop),
        }
    }

    /// Checks that an event of which so much is kept was ever there.
    async fn check_known(&self, of: &EventRef, kept: u64) -> Result<(), PlatformError> {
        match kept > 0 || self.core.store.event(of).await?.is_some() {
            true => Ok(()),
            false => Err(self.gone(of)),
        }
    }

    fn gone(&self, of: &EventRef) -> PlatformError {
        PlatformError::EventGone {
            emitter: of.emitter.clone(),
            id: of.id,
            retained: self.core.config.retained_events,
        }
    }

    async fn listener_run(&self, run: &ListedRun) -> Result<ListenerRun, PlatformError> {
        let (listener, run) = match run {
            ListedRun::Ended(run) => (&run.runnable, WorkflowRunSummary::of_ended(run)),
            ListedRun::Open(run) => (&run.runnable, self.open_run_summary(run).await?),
        };
        Ok(ListenerRun {
            listener: listener.clone(),
            run,
        })
    }
}
