//! Runs that have ended: a source's, and one of them with its events and their deliveries.

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::Event,
    id::{EmitterId, EventId, InvocationId, RunnableId, SourceId},
    outcome::ComponentError,
    page::{Page, PageRequest},
};
use headwater_store::{EventDelivery, RunFilter, RunRecord, Source};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    log_line::LogLine,
    platform::Platform,
    use_cases::workflows::WorkflowRunSummary,
};

/// Events of a run that are shown at most, with the lines of its log and its errors.
const EVENTS_MAX: u32 = 500;
/// Deliveries that are shown at most of one event.
pub(crate) const DELIVERIES_MAX: u32 = 10;

/// A run with its consequences, as far as they are still kept.
#[derive(Debug)]
pub struct RunView {
    /// Its record.
    pub run: RunRecord,
    /// Its events, oldest first, without those of the following two channels.
    pub events: Vec<RunEvent>,
    /// The lines that it put on `$logs`, oldest first.
    pub logs: Vec<RunLog>,
    /// Its errors on `$errors`, oldest first.
    pub errors: Vec<RunError>,
    /// Whether there are more events, lines or errors than these.
    pub has_more: bool,
}

/// An event of a run.
#[derive(Debug)]
pub struct RunEvent {
    /// Its id.
    pub id: EventId,
    /// Its channel.
    pub channel: Channel,
    /// The emit's `summary`.
    pub summary: Option<String>,
    /// Its deliveries.
    pub deliveries: RunDeliveries,
}

/// The deliveries of an event of a run to webhooks.
#[derive(Debug)]
pub struct RunDeliveries {
    /// In the order of their dispatch.
    pub shown: Vec<EventDelivery>,
    /// Whether there are more than these.
    pub has_more: bool,
}

/// A line that a run logged.
#[derive(Debug)]
pub struct RunLog {
    /// The event on `$logs`.
    pub id: EventId,
    /// The line itself.
    pub line: LogLine,
    /// Its deliveries.
    pub deliveries: RunDeliveries,
}

/// An error of a run.
#[derive(Debug)]
pub struct RunError {
    /// The event on `$errors`.
    pub id: EventId,
    /// The error itself.
    pub error: ComponentError,
    /// Its deliveries.
    pub deliveries: RunDeliveries,
}

/// The part of an event on `$errors` that tells of the error itself.
#[derive(Deserialize)]
struct ErrorEvent {
    error: ComponentError,
}

impl Platform {
    /// A page of a source's runs, newest first.
    pub async fn source_runs(
        &self,
        caller: &Caller,
        id: &SourceId,
        filter: RunFilter,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<RunRecord>, PlatformError> {
        self.visible_source(caller, id).await?;
        let runnable = RunnableId::from(id.clone());
        Ok(self.core.store.runs(&runnable, filter, page).await?)
    }

    /// A run of a source that the caller may see.
    pub async fn run(&self, caller: &Caller, id: &InvocationId) -> Result<RunView, PlatformError> {
        let run = self.visible_run(caller, id).await?;
        let events = self.core.store.run_events(&run, EVENTS_MAX + 1).await?;
        let (events, has_more) = up_to(events, EVENTS_MAX);
        let emitter = EmitterId::from(run.runnable.clone());
        let mut view = RunView {
            run,
            events: Vec::new(),
            logs: Vec::new(),
            errors: Vec::new(),
            has_more,
        };
        let ids: Vec<EventId> = events.iter().map(|event| event.id).collect();
        let store = &self.core.store;
        let deliveries = store.deliveries_of(&emitter, &ids, DELIVERIES_MAX + 1);
        for (event, deliveries) in events.into_iter().zip(deliveries.await?) {
            let (shown, has_more) = up_to(deliveries, DELIVERIES_MAX);
            view.add(event, RunDeliveries { shown, has_more })?;
        }
        Ok(view)
    }

    /// A run of a source that the caller may see and that has not ended, with its source.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub async fn open_source_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<(SourceId, WorkflowRunSummary), PlatformError> {
        let not_found = || PlatformError::not_found("run", id);
        let open = self.core.store.open_run(id).await?.ok_or_else(not_found)?;
        let RunnableId::Source(source) = &open.runnable else {
            return Err(not_found());
        };
        self.source_of_run(caller, source, id).await?;
        Ok((source.clone(), self.open_run_summary(&open).await?))
    }

    /// The lines that a source's run under way has logged since its last commit, oldest first. Its record has them when it
    /// has ended, and no event has them before.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such run that has not ended.
    pub async fn open_run_log(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<Vec<LogLine>, PlatformError> {
        let (source, _) = self.open_source_run(caller, id).await?;
        let logs = self.runners.logged(&source).await.into_iter();
        let mut of_it = logs.filter(|log| log.run_id == *id);
        Ok(of_it.next().map(|log| log.lines).unwrap_or_default())
    }

    /// Cancels a queued run of a source: one that waits ends without having begun, one under way ends with its worker, as at
    /// its time limit. Nothing of it is committed but its log and what went before its `$respond`; what it wrote to data
    /// stores and sent elsewhere stays, and other runs of the worker start again. False: it is not of a source.
    ///
    /// # Errors
    /// `NotFound` when the caller cannot see the source; `Unavailable` when the run cannot be had now.
    pub async fn cancel_source_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<bool, PlatformError> {
        let store = &self.core.store;
        let open = store.open_run(id).await?;
        let runnable = match &open {
            Some(open) => Some(open.runnable.clone()),
            None => store.run(id).await?.map(|ended| ended.runnable),
        };
        let Some(RunnableId::Source(source)) = runnable else {
            return Ok(false);
        };
        let source = self.source_of_run(caller, &source, id).await?;
        if open.is_some() {
            self.runners.cancel(&source, id).await?;
            let act = Act::new(AuditAction::RunCancel, "run", id).of(&source.owner);
            let act = act.named(&source.spec.name);
            self.record(caller, act.with("source_id", source.id.as_str()))
                .await;
        }
        Ok(true)
    }

    /// The source of a run that the caller may see.
    async fn source_of_run(
        &self,
        caller: &Caller,
        source: &SourceId,
        run: &InvocationId,
    ) -> Result<Source, PlatformError> {
        match self.visible_source(caller, source).await {
            Err(PlatformError::NotFound { .. }) => Err(PlatformError::not_found("run", run)),
            seen => seen,
        }
    }

    /// The record of a run of a source that the caller may see.
    pub(crate) async fn visible_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<RunRecord, PlatformError> {
        let not_found = || PlatformError::not_found("run", id);
        let run = self.core.store.run(id).await?.ok_or_else(not_found)?;
        let RunnableId::Source(source) = &run.runnable else {
            return Err(not_found());
        };
        self.source_of_run(caller, source, id).await?;
        Ok(run)
    }
}

impl RunView {
    fn add(&mut self, event: Event, deliveries: RunDeliveries) -> Result<(), PlatformError> {
        let id = event.id;
        match event.channel.class() {
            ChannelClass::Logs => self.logs.push(RunLog {
                id,
                line: read(&event)?,
                deliveries,
            }),
            ChannelClass::Errors => self.errors.push(RunError {
                id,
                error: read::<ErrorEvent>(&event)?.error,
                deliveries,
            }),
            ChannelClass::Ordinary | ChannelClass::Scheduled => self.events.push(RunEvent {
                id,
                channel: event.channel,
                summary: event.summary,
                deliveries,
            }),
        }
        Ok(())
    }
}

/// The first items, and whether there are more.
pub(crate) fn up_to<T>(mut items: Vec<T>, most: u32) -> (Vec<T>, bool) {
    let has_more = items.len() > most as usize;
    items.truncate(most as usize);
    (items, has_more)
}

/// The data of an event that the platform itself has put on its channel.
fn read<T: DeserializeOwned>(event: &Event) -> Result<T, PlatformError> {
    serde_json::from_str(event.event.get()).map_err(|error| {
        let (id, channel) = (event.id, event.channel.name());
        PlatformError::Internal(format!("event {id} on `{channel}` cannot be read: {error}"))
    })
}
