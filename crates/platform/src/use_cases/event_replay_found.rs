//! Passing on once more all kept events that a search finds, up to a bound, to those who listen to their emitters now.

use std::sync::Arc;

use headwater_model::{
    event::EventRef, event_search::EventPlace, id::ListenerId, limits::PAGE_LIMIT_MAX,
};

use super::{
    event_replay::{EventsReplayed, emitters_of},
    event_search::EventsSearch,
};
use crate::{caller::Caller, error::PlatformError, platform::Platform};

/// Events that one request passes on: the newest that the search finds.
pub const REPLAYED_FOUND_MAX: usize = 1_000;
/// Kept events that are looked at for one request, give or take a part of the search.
const LOOKED_AT_MAX: u64 = 100_000;
/// Parts of the search for one request: large events end a part early.
const PARTS_MAX: usize = 100;

/// The search whose events are to be passed on once more.
#[derive(Debug, Clone)]
pub struct ReplayFound {
    /// The search; its place is where to go on behind, and its limit is not looked at.
    pub search: EventsSearch,
    /// The only listener that gets them; `None`: all that listen.
    pub only: Option<ListenerId>,
    /// Whether only to tell who would get them.
    pub is_dry: bool,
}

/// The extent of a replay of what was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundReplayed {
    /// Events that were found.
    pub found: u64,
    /// The extent of their replay.
    pub replayed: EventsReplayed,
    /// Kept events that were looked at.
    pub scanned: u64,
    /// Kept events that there are at most.
    pub kept_at_most: u64,
    /// The place to go on behind, if not all were looked at.
    pub next: Option<EventPlace>,
}

impl Platform {
    /// Passes on what a search finds, oldest first: the newest [`REPLAYED_FOUND_MAX`] events, as
    /// [`Platform::replay_events`] does.
    ///
    /// # Errors
    /// Those of [`Platform::search_events`].
    pub async fn replay_found(
        self: &Arc<Self>,
        caller: &Caller,
        request: ReplayFound,
    ) -> Result<FoundReplayed, PlatformError> {
        let mut search = request.search;
        let mut all = FoundReplayed::default();
        let mut events = Vec::new();
        for _ in 0..PARTS_MAX {
            let left = REPLAYED_FOUND_MAX - events.len();
            search.limit = PAGE_LIMIT_MAX.min(u32::try_from(left).unwrap_or(u32::MAX));
            let part = self.search_events(caller, search.clone()).await?;
            let found = part.events.into_iter().map(|event| EventRef {
                emitter: event.emitter,
                id: event.id,
            });
            events.extend(found);
            all.scanned += u64::from(part.scanned);
            all.kept_at_most = part.kept_at_most;
            all.next.clone_from(&part.next);
            search.after = part.next;
            let is_enough = events.len() >= REPLAYED_FOUND_MAX || all.scanned >= LOOKED_AT_MAX;
            if all.next.is_none() || is_enough {
                break;
            }
        }
        all.found = events.len() as u64;
        let (events, gone) = self.of_present(caller, events).await?;
        if !events.is_empty() {
            let replayed = self.pass_on(caller, events, (request.only, request.is_dry));
            all.replayed = replayed.await?;
        }
        all.replayed.gone += gone;
        Ok(all)
    }

    /// The events whose emitters are still there, and the number of those whose emitters were deleted since the search.
    async fn of_present(
        &self,
        caller: &Caller,
        mut events: Vec<EventRef>,
    ) -> Result<(Vec<EventRef>, u64), PlatformError> {
        let found = events.len();
        for emitter in emitters_of(&events) {
            let checked = self.check_visible(caller, &emitter).await;
            if let Err(PlatformError::NotFound { .. }) = checked {
                events.retain(|event| event.emitter != emitter);
                continue;
            }
            checked?;
        }
        let gone = found - events.len();
        Ok((events, gone as u64))
    }
}
