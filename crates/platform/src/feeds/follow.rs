//! Following one emitter: first what came after the reader's last event, then what comes.

use std::sync::Arc;

use futures::{Stream, StreamExt as _, stream};
use headwater_model::{
    channel::Channel,
    id::{EmitterId, EventId},
    limits::PAGE_LIMIT_MAX,
    page::{PageRequest, Position},
};
use headwater_store::{ChannelFilter, LogPosition, StoreError};

use super::{Followed, Reader};
use crate::{access::Caller, background::Chore, error::PlatformError, platform::Platform};

/// Which events to follow.
#[derive(Debug, Clone)]
pub struct Follow {
    /// Whose.
    pub emitter: EmitterId,
    /// On which channels.
    pub channels: ChannelFilter,
    /// The last one the reader has; without it, only new ones are meant.
    pub after: Option<EventId>,
}

impl Platform {
    /// An emitter's events in order, each once: those after `after` that the log still has, then those
    /// that come. The stream ends when the emitter is deleted, the node stops, the reader is too slow, or its key or
    /// a membership of its user ends; then the reader may go on after the last event it got, if it still may read.
    ///
    /// # Errors
    /// `NotFound` for an emitter that the caller cannot see, `Invalid` for the channel `$in`.
    pub async fn follow(
        self: &Arc<Self>,
        caller: &Caller,
        follow: Follow,
    ) -> Result<impl Stream<Item = Arc<Followed>> + Send + use<>, PlatformError> {
        // First a place, then the look, also at the caller: whoever deletes the emitter meanwhile, or ends the
        // access to it, ends what has a place.
        let key = caller.identity.key.clone();
        let reader =
            self.feeds
                .register(follow.emitter.clone(), follow.channels.clone(), key.clone());
        let identity = self.store.identity(&key.hash).await?;
        let caller = Caller {
            identity: identity.ok_or(PlatformError::Unauthenticated)?,
        };
        self.visible_emitter(&caller, &follow.emitter).await?;
        check_channels(&follow.channels)?;
        let begun_at = self.begin_tail().await?;
        let following = Following {
            platform: Arc::clone(self),
            reader,
            channels: follow.channels,
            last: follow.after,
            is_replaying: follow.after.is_some(),
            begun_at: follow.after.is_none().then_some(begun_at),
        };
        let batches = stream::unfold(following, Following::step);
        let stopped = self.stopping.clone().cancelled_owned();
        Ok(batches.flat_map(stream::iter).take_until(stopped))
    }

    async fn visible_emitter(
        &self,
        caller: &Caller,
        emitter: &EmitterId,
    ) -> Result<(), PlatformError> {
        match emitter {
            EmitterId::Source(id) => self.visible_source(caller, id).await.map(drop),
            EmitterId::Workflow(id) => Err(PlatformError::not_found("workflow", id)),
        }
    }

    /// Makes sure that the tail reads along from the log's end, or from before it.
    async fn begin_tail(&self) -> Result<LogPosition, StoreError> {
        let _nothing_is_trimmed = self.feeds.trimming.lock().await;
        let end = self.store.log_end().await?;
        self.feeds.begin_at(end);
        // What was appended meanwhile may have nudged a tail that had not begun.
        self.nudges.nudge(Chore::Tail);
        Ok(end)
    }
}

fn check_channels(channels: &ChannelFilter) -> Result<(), PlatformError> {
    match channels.covers(&Channel::scheduled()) {
        true => Err(PlatformError::invalid(
            "event_name",
            "events on `$in` wait there; follow the channel they are meant for",
        )),
        false => Ok(()),
    }
}

struct Following {
    platform: Arc<Platform>,
    reader: Reader,
    channels: ChannelFilter,
    /// The last event that the reader has.
    last: Option<EventId>,
    is_replaying: bool,
    /// Where a reader begins that has no last event.
    begun_at: Option<LogPosition>,
}

impl Following {
    async fn step(mut self) -> Option<(Vec<Arc<Followed>>, Self)> {
        while self.is_replaying {
            if self.reader.is_turned_away() {
                return None;
            }
            let events = self.replay().await?;
            if !events.is_empty() {
                return Some((events, self));
            }
        }
        loop {
            let batch = self.reader.next().await?;
            let is_new = |followed: &&Arc<Followed>| self.is_new(followed);
            let events: Vec<_> = batch.iter().filter(is_new).cloned().collect();
            if let Some(newest) = events.last() {
                self.last = Some(newest.event.id);
                return Some((events, self));
            }
        }
    }

    /// The next page of the log. What is appended from now on waits at the feed, so that the replay may
    /// end as soon as the two meet.
    async fn replay(&mut self) -> Option<Vec<Arc<Followed>>> {
        let page = PageRequest {
            limit: PAGE_LIMIT_MAX,
            position: Position::Before(self.last.unwrap_or_default()),
        };
        let emitter = &self.reader.emitter;
        let page = match self
            .platform
            .store
            .events(emitter, &self.channels, &page)
            .await
        {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%error, emitter = emitter.as_str(), "a replay has to wait for the store");
                return None;
            }
        };
        if let Some(newest) = page.items.first() {
            self.last = Some(newest.id);
        }
        let meets = |first: EventId| self.last.is_some_and(|last| first <= last);
        self.is_replaying = page.items.len() == PAGE_LIMIT_MAX as usize
            && !self.reader.first_waiting().is_some_and(meets);
        let oldest_first = page.items.into_iter().rev();
        Some(
            oldest_first
                .map(|event| Followed::new(event, None))
                .collect(),
        )
    }

    fn is_new(&self, followed: &Followed) -> bool {
        self.channels.covers(&followed.event.channel)
            && self.last.is_none_or(|last| followed.event.id > last)
            && self
                .begun_at
                .is_none_or(|begun_at| followed.position > Some(begun_at))
    }
}
