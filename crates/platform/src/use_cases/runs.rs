//! Runs that have ended: a source's, and one of them with its events and their deliveries.

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::Event,
    id::{DeliveryId, EmitterId, EventId, InvocationId, RunnableId, SourceId, WebhookId},
    outcome::ComponentError,
    page::{Page, PageRequest},
    webhook::DeliveryState,
};
use headwater_store::{Delivery, RunFilter, RunRecord};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{caller::Caller, error::PlatformError, log_line::LogLine, platform::Platform};

/// Events of a run that are shown at most, with the lines of its log and its errors.
const EVENTS_MAX: u32 = 500;
/// Deliveries that are shown at most of one event.
const DELIVERIES_MAX: u32 = 10;

/// A run with its consequences, as far as they are still kept.
#[derive(Debug)]
pub struct RunView {
    /// Its record.
    pub run: RunRecord,
    /// Its events, oldest first, without those of the following two channels.
    pub events: Vec<RunEvent>,
    /// The lines that it put on `$logs`, oldest first.
    pub logs: Vec<LogLine>,
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
    /// Its deliveries to webhooks, in the order of their dispatch.
    pub deliveries: Vec<RunDelivery>,
    /// Whether there are more deliveries than these.
    pub has_more_deliveries: bool,
}

/// A delivery of an event of a run.
#[derive(Debug)]
pub struct RunDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// To which webhook.
    pub webhook_id: WebhookId,
    /// Where it is in its life.
    pub state: DeliveryState,
}

/// An error of a run.
#[derive(Debug)]
pub struct RunError {
    /// The event on `$errors`.
    pub id: EventId,
    /// The error itself.
    pub error: ComponentError,
}

/// The part of an event on `$errors` that tells of the error itself.
#[derive(Deserialize)]
struct ErrorEvent {
    error: ComponentError,
}

impl From<Delivery> for RunDelivery {
    fn from(delivery: Delivery) -> Self {
        Self {
            id: delivery.id,
            webhook_id: delivery.webhook_id,
            state: delivery.state,
        }
    }
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
        for event in events {
            match event.channel.class() {
                ChannelClass::Logs => view.logs.push(read(&event)?),
                ChannelClass::Errors => view.errors.push(RunError {
                    id: event.id,
                    error: read::<ErrorEvent>(&event)?.error,
                }),
                ChannelClass::Ordinary | ChannelClass::Scheduled => {
                    view.events
                        .push(self.with_deliveries(&emitter, event).await?);
                }
            }
        }
        Ok(view)
    }

    async fn visible_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<RunRecord, PlatformError> {
        let not_found = || PlatformError::not_found("run", id);
        let run = self.core.store.run(id).await?.ok_or_else(not_found)?;
        let RunnableId::Source(source) = &run.runnable else {
            // Nothing shows workflows yet.
            return Err(not_found());
        };
        match self.visible_source(caller, source).await {
            Ok(_) => Ok(run),
            Err(PlatformError::NotFound { .. }) => Err(not_found()),
            Err(other) => Err(other),
        }
    }

    async fn with_deliveries(
        &self,
        emitter: &EmitterId,
        event: Event,
    ) -> Result<RunEvent, PlatformError> {
        let store = &self.core.store;
        let deliveries = store.deliveries_of(emitter, event.id, DELIVERIES_MAX + 1);
        let (deliveries, has_more_deliveries) = up_to(deliveries.await?, DELIVERIES_MAX);
        Ok(RunEvent {
            id: event.id,
            channel: event.channel,
            summary: event.summary,
            deliveries: deliveries.into_iter().map(RunDelivery::from).collect(),
            has_more_deliveries,
        })
    }
}

/// The first items, and whether there are more.
fn up_to<T>(mut items: Vec<T>, most: u32) -> (Vec<T>, bool) {
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
