//! Reading the events of sources and workflows, and deleting those of a source (docs/api-design.md, "Events").

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::Event,
    id::{EmitterId, EventId, SourceId, WorkflowId},
    page::{Page, PageRequest},
};
use headwater_store::{ChannelFilter, EventDeletion, EventRange};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    chore::Chore,
    error::PlatformError,
    platform::Platform,
};

/// The events to list.
#[derive(Debug, Clone)]
pub struct EventsQuery {
    /// The channels.
    pub channels: ChannelFilter,
    /// The page, newest first.
    pub page: PageRequest<EventId>,
}

/// The channels meant when no `event_name` is given: the default and all custom ones; one channel otherwise.
pub fn default_channels(event_name: Option<&str>) -> ChannelFilter {
    match event_name {
        None => ChannelFilter::Class(ChannelClass::Ordinary),
        Some(name) => ChannelFilter::Named(Channel::named(name)),
    }
}

impl Platform {
    /// A page of a source's events, newest first.
    pub async fn source_events(
        &self,
        caller: &Caller,
        id: &SourceId,
        query: &EventsQuery,
    ) -> Result<Page<Event>, PlatformError> {
        self.visible_source(caller, id).await?;
        Ok(self
            .core
            .store
            .events(&EmitterId::from(id.clone()), &query.channels, &query.page)
            .await?)
    }

    /// A page of a workflow's events, newest first.
    pub async fn workflow_events(
        &self,
        caller: &Caller,
        id: &WorkflowId,
        query: &EventsQuery,
    ) -> Result<Page<Event>, PlatformError> {
        self.visible_workflow(caller, id).await?;
        let emitter = EmitterId::Workflow(id.clone());
        let store = &self.core.store;
        Ok(store.events(&emitter, &query.channels, &query.page).await?)
    }

    /// Deletes a range of a source's events, both ends included, asynchronously.
    pub async fn delete_source_events(
        &self,
        caller: &Caller,
        id: &SourceId,
        channels: ChannelFilter,
        range: EventRange,
    ) -> Result<(), PlatformError> {
        let source = self.visible_source(caller, id).await?;
        let act = Act::on_source(AuditAction::EventsDelete, &source);
        let act = act.with_some("since", range.start.map(|id| id.to_string()));
        let act = act.with_some("until", range.end.map(|id| id.to_string()));
        let emitter = EmitterId::from(id.clone());
        let now_ms = self.core.env.now_ms();
        self.core
            .store
            .request_deletion(EventDeletion {
                emitter,
                channels,
                range,
                now_ms,
            })
            .await?;
        self.core.nudges.nudge(Chore::Retention);
        self.record(caller, act).await;
        Ok(())
    }
}
