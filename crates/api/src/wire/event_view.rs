//! Named searches of events, not part of Pipedream's API.

use headwater_model::{
    id::{EmitterId, SourceId, WorkflowId, WorkspaceId},
    time::EpochSeconds,
};
use headwater_platform::{EventTimes, EventsSearch, PlatformError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::id;

/// `PUT /event_views/{name}`: a search as `GET /events` takes it.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"q": "refund", "path": ["order.status=open"], "since": "24h"}))]
pub(crate) struct SetEventView {
    /// Words, separated by spaces, that an event's JSON or summary has, in any case.
    q: Option<String>,
    /// Values at places of an event's JSON, such as `user.tags[0]=new`.
    #[serde(default)]
    path: Vec<String>,
    /// Only events of this source.
    #[schema(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    /// Only events of this workflow.
    #[schema(value_type = Option<id::Workflow>)]
    workflow_id: Option<WorkflowId>,
    /// One channel, the default one when empty; absent: the default one and all that components name.
    channel: Option<String>,
    /// The earliest time, kept as it is written: `24h` before whenever the view is followed, a day or a minute in UTC, ISO
    /// 8601 with a zone, or epoch milliseconds.
    since: Option<String>,
    /// The latest time, likewise. A day or a minute is meant whole.
    until: Option<String>,
    /// The workspace that the view is for.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl SetEventView {
    /// The search and its times.
    pub(crate) fn search(self) -> Result<(EventsSearch, EventTimes), PlatformError> {
        let times = EventTimes {
            since: self.since,
            until: self.until,
        };
        let search = EventsSearch {
            emitter: emitter(self.source_id, self.workflow_id)?,
            workspace_id: self.workspace_id.or(self.org_id),
            channel: self.channel,
            words: self.q.unwrap_or_default(),
            paths: self.path,
            ..EventsSearch::default()
        };
        Ok((search, times))
    }
}

/// The emitter that one of two fields names.
pub(super) fn emitter(
    source_id: Option<SourceId>,
    workflow_id: Option<WorkflowId>,
) -> Result<Option<EmitterId>, PlatformError> {
    match (source_id, workflow_id) {
        (None, None) => Ok(None),
        (Some(id), None) => Ok(Some(EmitterId::Source(id))),
        (None, Some(id)) => Ok(Some(EmitterId::Workflow(id))),
        (Some(_), Some(_)) => {
            let reason = "give `source_id` or `workflow_id`, not both";
            Err(PlatformError::invalid("workflow_id", reason))
        }
    }
}

/// A search of events with a name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventView {
    name: String,
    /// Words, separated by spaces.
    q: String,
    /// Values at places of an event's JSON.
    path: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Workflow>)]
    workflow_id: Option<WorkflowId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    /// The earliest time, as it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// The latest time, as it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    /// When it was written, epoch seconds.
    #[schema(value_type = u64)]
    updated_at: EpochSeconds,
}

impl From<headwater_platform::EventView> for EventView {
    fn from(view: headwater_platform::EventView) -> Self {
        let (source_id, workflow_id) = match view.emitter {
            Some(EmitterId::Source(id)) => (Some(id), None),
            Some(EmitterId::Workflow(id)) => (None, Some(id)),
            None => (None, None),
        };
        Self {
            name: view.name,
            q: view.words,
            path: view.paths,
            source_id,
            workflow_id,
            channel: view.channel,
            since: view.times.since,
            until: view.times.until,
            updated_at: view.updated_at,
        }
    }
}
