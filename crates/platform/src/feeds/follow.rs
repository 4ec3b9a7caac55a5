//! Following one emitter: first the events after the reader's last one, then new ones.

use std::sync::Arc;

use futures::{Stream, StreamExt as _, stream};
use headwater_model::{
    id::{EmitterId, EventId},
    limits::PAGE_LIMIT_MAX,
    page::{PageRequest, Position},
};
use headwater_store::{ApiKey, ChannelFilter, LogPosition, Store, StoreError};

use super::{
    Feeds, Portion,
    batch::{Batch, Followed},
    readers::Reader,
};

/// The events to follow.
#[derive(Debug, Clone)]
pub struct Follow {
    /// Whose.
    pub emitter: EmitterId,
    /// On which channels.
    pub channels: ChannelFilter,
    /// The last one the reader has; without it, only new ones are meant.
    pub after: Option<EventId>,
}

/// A reader's place at a feed, taken before its access is checked: deleting the emitter meanwhile, or
/// ending the access to it, ends the stream of every place.
pub(crate) struct Place(Reader);

impl Feeds {
    /// Takes a place at the emitter's feed for the holder of this key.
    pub(crate) fn take_place(&self, follow: &Follow, key: ApiKey) -> Place {
        let (emitter, channels) = (follow.emitter.clone(), follow.channels.clone());
        Place(self.readers.register(emitter, channels, key))
    }

    /// An emitter's events in order, each once: those after `after` that the log still has, then those that come.
    ///
    /// # Errors
    /// The store does not answer.
    pub(crate) async fn follow(
        &self,
        Place(reader): Place,
        follow: Follow,
    ) -> Result<impl Stream<Item = Portion> + Send + use<>, StoreError> {
        let begun_at = self.begin_tail().await?;
        let following = Following {
            store: Arc::clone(&self.core.store),
            reader,
            channels: follow.channels,
            last: follow.after,
            is_replaying: follow.after.is_some(),
            begun_at: follow.after.is_none().then_some(begun_at),
        };
        let batches = stream::unfold(following, Following::step);
        let stopped = self.core.stopping.clone().cancelled_owned();
        Ok(batches.flat_map(stream::iter).take_until(stopped))
    }
}

struct Following {
    store: Arc<dyn Store>,
    reader: Reader,
    channels: ChannelFilter,
    /// The last event that the reader has.
    last: Option<EventId>,
    is_replaying: bool,
    /// The beginning for a reader without a last event.
    begun_at: Option<LogPosition>,
}

impl Following {
    async fn step(mut self) -> Option<(Vec<Portion>, Self)> {
        while self.is_replaying {
            if self.reader.is_disconnected() {
                return None;
            }
            let portions = self.replay().await?;
            if !portions.is_empty() {
                return Some((portions, self));
            }
        }
        loop {
            let batch = self.reader.next().await?;
            let portions = batch.portions(|followed| self.is_new(followed));
            if let Some(newest) = portions.last().and_then(|last| last.events().last()) {
                self.last = Some(newest.id);
                return Some((portions, self));
            }
        }
    }

    /// The next page of the log. Events appended from now on wait at the feed, so that the replay may
    /// end as soon as the two meet.
    async fn replay(&mut self) -> Option<Vec<Portion>> {
        let page = PageRequest {
            limit: PAGE_LIMIT_MAX,
            position: Position::Before(self.last.unwrap_or_default()),
        };
        let emitter = &self.reader.emitter;
        let page = match self.store.events(emitter, &self.channels, &page).await {
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
        let oldest_first = page.items.into_iter().rev().map(|event| Followed {
            event,
            position: None,
        });
        let batches = Batch::cut(oldest_first);
        Some(
            batches
                .iter()
                .flat_map(|batch| batch.portions(|_| true))
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
