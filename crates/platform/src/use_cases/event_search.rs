//! Searching the kept events of all sources and workflows that the caller may see.

use headwater_model::{
    event_search::{EventMatcher, EventPlace},
    id::{EmitterId, WorkspaceId},
    time::EpochMs,
};
use headwater_store::{EventSearch, FoundEvents, ScanLimits, SearchedEmitters};

use super::events::default_channels;
use crate::{caller::Caller, error::PlatformError, platform::Platform};

/// The work of one part of a search: a fraction of a second.
const SCAN: ScanLimits = ScanLimits {
    events: 5_000,
    bytes: 32 * 1024 * 1024,
};

/// A search of events.
#[derive(Debug, Clone, Default)]
pub struct EventsSearch {
    /// The emitter; all of the caller, or of the workspace, without.
    pub emitter: Option<EmitterId>,
    /// The workspace.
    pub workspace_id: Option<WorkspaceId>,
    /// One channel; the default one and all that components name, without.
    pub channel: Option<String>,
    /// The earliest time, epoch milliseconds.
    pub since_ms: Option<EpochMs>,
    /// The latest time.
    pub until_ms: Option<EpochMs>,
    /// Words that an event's JSON or summary has, separated by spaces.
    pub words: String,
    /// Values at places of its JSON, such as `user.tags[0]=new`.
    pub paths: Vec<String>,
    /// The place behind which to go on.
    pub after: Option<EventPlace>,
    /// The number of events to find.
    pub limit: u32,
}

impl Platform {
    /// A part of a search, newest events first. It looks at 5,000 events or 32 MiB of them at most, and tells where to
    /// go on.
    ///
    /// # Errors
    /// `Invalid` for words or paths that cannot be searched for, `NotFound` for an emitter that the caller may not see.
    pub async fn search_events(
        &self,
        caller: &Caller,
        search: EventsSearch,
    ) -> Result<FoundEvents, PlatformError> {
        let matcher = EventMatcher::new(&search.words, &search.paths);
        let matcher = matcher.map_err(PlatformError::Invalid)?;
        let owner = self.owner(caller, search.workspace_id).await?;
        let emitters = match search.emitter {
            None => SearchedEmitters::Of(owner),
            Some(emitter) => {
                self.check_visible(caller, &emitter).await?;
                SearchedEmitters::One(emitter)
            }
        };
        let stopping = |_| PlatformError::Unavailable("the node is stopping".to_owned());
        let _turn = self.searches.acquire().await.map_err(stopping)?;
        let found = self.core.store.search_events(EventSearch {
            emitters,
            channels: default_channels(search.channel.as_deref()),
            since_ms: search.since_ms,
            until_ms: search.until_ms,
            matcher,
            after: search.after,
            limit: search.limit,
            scan: SCAN,
        });
        Ok(found.await?)
    }
}
