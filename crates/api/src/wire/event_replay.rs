//! Sending events again to their listeners, not part of Pipedream's API.

use headwater_model::{
    event::EventRef,
    event_search::EventPlace,
    id::{EmitterId, EventId, ListenerId, SourceId, WorkflowId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{EventsReplayed, EventsSearch, FoundReplayed, PlatformError, ReplayFound};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{event::number_or_text, event_view::emitter, id, lenient};

/// Events to send again. A name that is not known is refused: the request might reach further than it was meant to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"events": [{"emitter_id": "dc_…", "event_id": "1700000000000-0"}], "dry_run": true}))]
pub(crate) struct ReplayEvents {
    /// The events, at most 100; or else `filter`.
    #[serde(default)]
    events: Vec<ReplayedEvent>,
    /// All events that a search finds instead, the newest 1,000 of them.
    #[serde(default)]
    filter: Option<ReplayFilter>,
    /// The only listener that gets them; without it, all that listen do.
    #[serde(default)]
    #[schema(value_type = Option<id::Listener>)]
    listener_id: Option<ListenerId>,
    /// Whether only to tell who would get them.
    #[serde(default, deserialize_with = "lenient::boolean")]
    dry_run: Option<bool>,
}

/// One event.
#[derive(Debug, Deserialize, ToSchema)]
struct ReplayedEvent {
    /// Its source or workflow; `source_id` means the same.
    #[serde(alias = "source_id")]
    #[schema(value_type = id::Emitter)]
    emitter_id: EmitterId,
    /// Its id.
    #[schema(value_type = id::Event)]
    event_id: EventId,
}

/// A search as `GET /events` takes it. A name that is not known is refused, as it would make the search find more.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReplayFilter {
    /// Words, separated by spaces, that an event's JSON or summary has, in any case.
    q: Option<String>,
    /// Values at places of an event's JSON, such as `user.tags[0]=new`.
    #[serde(default)]
    path: Vec<String>,
    #[schema(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    #[schema(value_type = Option<id::Workflow>)]
    workflow_id: Option<WorkflowId>,
    /// One channel, the default one when empty; absent: the default one and all that components name.
    channel: Option<String>,
    /// Only events of this time or later: epoch milliseconds, or ISO 8601 with a zone or as a date.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[schema(schema_with = number_or_text, required = false)]
    since: Option<EpochMs>,
    /// Only events of this time or earlier.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[schema(schema_with = number_or_text, required = false)]
    until: Option<EpochMs>,
    /// Only events of this workspace; `org_id` means the same.
    #[serde(alias = "org_id")]
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The `next` of the answer to go on from.
    after: Option<String>,
}

impl ReplayFilter {
    fn search(self) -> Result<EventsSearch, PlatformError> {
        let place = |text: String| {
            let place = text.parse::<EventPlace>();
            place.map_err(|_| {
                PlatformError::invalid("filter.after", "is not the `next` of an answer")
            })
        };
        Ok(EventsSearch {
            emitter: emitter(self.source_id, self.workflow_id)?,
            workspace_id: self.workspace_id,
            channel: self.channel,
            since_ms: self.since,
            until_ms: self.until,
            words: self.q.unwrap_or_default(),
            paths: self.path,
            after: self.after.map(place).transpose()?,
            ..EventsSearch::default()
        })
    }
}

/// A request as the platform takes it.
pub(crate) enum EventsToReplay {
    Events(headwater_platform::ReplayEvents),
    Found(ReplayFound),
}

impl TryFrom<ReplayEvents> for EventsToReplay {
    type Error = PlatformError;

    fn try_from(request: ReplayEvents) -> Result<Self, PlatformError> {
        let (only, is_dry) = (request.listener_id, request.dry_run.unwrap_or_default());
        let events = request.events.into_iter().map(|event| EventRef {
            emitter: event.emitter_id,
            id: event.event_id,
        });
        let events: Vec<_> = events.collect();
        match request.filter {
            Some(_) if !events.is_empty() => {
                let reason = "give `events` or `filter`, not both";
                Err(PlatformError::invalid("filter", reason))
            }
            Some(filter) => Ok(Self::Found(ReplayFound {
                search: filter.search()?,
                only,
                is_dry,
            })),
            None => Ok(Self::Events(headwater_platform::ReplayEvents {
                events,
                only,
                is_dry,
            })),
        }
    }
}

/// The extent of a replay.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplayedEvents {
    /// Events that were sent again to somebody; in a dry run, those that would be.
    count: u64,
    /// Events that nobody gets: nobody listens, or nobody that is active and has room.
    unheard: u64,
    /// Events that are not kept any more.
    gone: u64,
    /// The listeners that the caller may see.
    listeners: Vec<ReplayListener>,
    /// The number of other listeners.
    others: u64,
    /// Whether an event has more than 1,000 subscriptions, of which the first were looked at.
    has_more: bool,
    /// With `filter`: the events that were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<u64>,
    /// With `filter`: the `after` to go on from, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// After an error, which ends the replay: the events that were not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    untried: Option<u64>,
    /// The error, with `untried`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A listener of events that are sent again.
#[derive(Debug, Serialize, ToSchema)]
struct ReplayListener {
    #[schema(value_type = id::Listener)]
    listener_id: ListenerId,
    /// Its name; of a webhook without one, its URL.
    name: String,
    /// Events that it got, or would get.
    count: u64,
    /// Events that it does not get, because it is not active or has no room.
    left_out: u64,
}

impl From<EventsReplayed> for ReplayedEvents {
    fn from(replayed: EventsReplayed) -> Self {
        let listeners = replayed.listeners.into_iter().map(|one| ReplayListener {
            listener_id: one.id,
            name: one.name,
            count: one.reached,
            left_out: one.left_out,
        });
        Self {
            count: replayed.count,
            unheard: replayed.unheard,
            gone: replayed.gone,
            listeners: listeners.collect(),
            others: replayed.others,
            has_more: replayed.has_more,
            found: None,
            next: None,
            untried: Some(replayed.untried).filter(|untried| *untried > 0),
            reason: replayed.reason,
        }
    }
}

impl From<FoundReplayed> for ReplayedEvents {
    fn from(all: FoundReplayed) -> Self {
        Self {
            found: Some(all.found),
            next: all.next.map(|place| place.to_string()),
            ..all.replayed.into()
        }
    }
}
