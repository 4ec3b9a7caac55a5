//! Searching events, not part of Pipedream's API.

use headwater_model::{
    event_search::EventPlace,
    id::{SourceId, WorkflowId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{EventsSearch, FoundEvents, PlatformError};
use serde::{Deserialize, Serialize};
use url::form_urlencoded;
use utoipa::{IntoParams, ToSchema};

use super::{EventSummary, event_view::emitter, id, lenient};

/// `GET /events`, besides `limit` and `after`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventSearchRequest {
    /// Words, separated by spaces, that an event's JSON or summary has, in any case.
    q: Option<String>,
    /// A value at a place of an event's JSON, such as `user.tags[0]=new`. May be given several times.
    #[param(value_type = Option<Vec<String>>)]
    #[serde(default, rename = "path")]
    _path: serde::de::IgnoredAny,
    /// Only events of this source.
    #[param(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    /// Only events of this workflow.
    #[param(value_type = Option<id::Workflow>)]
    workflow_id: Option<WorkflowId>,
    /// One channel, the default one when empty; absent: the default one and all that components name.
    channel: Option<String>,
    /// Only events of this time or later: epoch milliseconds, or ISO 8601 with a zone or as a date.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[param(value_type = Option<String>)]
    since: Option<EpochMs>,
    /// Only events of this time or earlier.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[param(value_type = Option<String>)]
    until: Option<EpochMs>,
    /// The workspace whose sources and workflows are meant.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl EventSearchRequest {
    /// The search, with the paths of the whole query, of which this has only one.
    pub(crate) fn search(
        self,
        query: &str,
        after: Option<EventPlace>,
        limit: u32,
    ) -> Result<EventsSearch, PlatformError> {
        let emitter = emitter(self.source_id, self.workflow_id)?;
        let parameters = form_urlencoded::parse(query.as_bytes());
        let paths = parameters.filter(|(name, _)| name == "path");
        Ok(EventsSearch {
            emitter,
            workspace_id: self.workspace_id.or(self.org_id),
            channel: self.channel,
            since_ms: self.since,
            until_ms: self.until,
            words: self.q.unwrap_or_default(),
            paths: paths.map(|(_, path)| path.into_owned()).collect(),
            after,
            limit,
        })
    }
}

/// A part of a search.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchedEvents {
    page_info: SearchPage,
    /// The events that were found, newest first.
    data: Vec<EventSummary>,
    searched: Searched,
}

/// The place of a part in its search.
#[derive(Debug, Serialize, ToSchema)]
struct SearchPage {
    /// Events of this part.
    count: usize,
    /// Cursor for `after`, also if nothing was found. Null if every event has been searched.
    #[schema(required)]
    end_cursor: Option<String>,
}

/// The events that were searched.
#[derive(Debug, Serialize, ToSchema)]
struct Searched {
    /// In this part.
    scanned: u32,
    /// The number of events on these channels of these emitters that are kept, of whatever time.
    kept_at_most: u64,
}

impl SearchedEvents {
    /// The part, with the cursor of its place.
    pub(crate) fn new(found: FoundEvents, cursor: impl Fn(&EventPlace) -> String) -> Self {
        Self {
            page_info: SearchPage {
                count: found.events.len(),
                end_cursor: found.next.as_ref().map(cursor),
            },
            data: found.events.into_iter().map(EventSummary::found).collect(),
            searched: Searched {
                scanned: found.scanned,
                kept_at_most: found.kept_at_most,
            },
        }
    }
}
