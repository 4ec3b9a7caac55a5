//! Feeds: readers who follow an emitter's events as they come.
//!
//! ```text
//!  log ──► tail (one per node, while somebody reads) ──► queue of each reader of the emitter ──► stream
//!   └────► replay: what came after the event that a reader had last ─────────────────────────────┘
//! ```
//!
//! The tail waits for nobody. A reader that leaves too much waiting loses its place: its stream ends,
//! and it may come again with the last event it has. So retention waits for the tail alone.

mod follow;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use headwater_model::{
    event::Event,
    id::{EmitterId, EventId},
};
use headwater_store::{ApiKey, Appended, ChannelFilter, LogPosition, Progress, StoreError};
use parking_lot::Mutex;
use tokio::sync::Notify;

pub use self::follow::Follow;
use crate::platform::Platform;

/// Events per step of the tail.
const STEP: u32 = 500;
/// After a step that found events. Under load more of them come together, and readers are woken less often.
const PACE: Duration = Duration::from_millis(10);
/// What may wait for one reader, besides the step that it overflows with. Readers share what they wait for.
const WAITING_BYTES: usize = 16 * 1024 * 1024;
/// What an event takes in memory besides its data.
const EVENT_BYTES: usize = 256;

/// An event as all who follow its emitter share it.
#[derive(Debug)]
pub struct Followed {
    /// The event.
    pub event: Event,
    /// Where it came in the whole log; unknown when it was replayed.
    position: Option<LogPosition>,
    form: OnceLock<Bytes>,
}

impl Followed {
    fn new(event: Event, position: Option<LogPosition>) -> Arc<Self> {
        Arc::new(Self {
            event,
            position,
            form: OnceLock::new(),
        })
    }

    /// The event as it is sent, made once for all readers. There is one such form.
    pub fn form(&self, make: impl FnOnce(&Event) -> Bytes) -> Bytes {
        self.form.get_or_init(|| make(&self.event)).clone()
    }

    fn size(&self) -> usize {
        EVENT_BYTES + self.event.event.get().len()
    }
}

/// Events of one emitter, in order.
type Batch = Arc<[Arc<Followed>]>;

/// Who follows what, and how far the tail has come.
#[derive(Default)]
pub(crate) struct Feeds {
    state: Mutex<State>,
    /// Held while the tail begins and while events are trimmed: none is trimmed for want of a tail that
    /// has begun meanwhile.
    pub(crate) trimming: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    readers: HashMap<EmitterId, BTreeMap<u64, Arc<Queue>>>,
    readers_ever: u64,
    read_up_to: Option<LogPosition>,
}

impl Feeds {
    /// Up to where readers have been given the log; `None` while nobody reads.
    pub(crate) fn read_up_to(&self) -> Option<LogPosition> {
        self.state.lock().read_up_to
    }

    /// Ends the streams of those who may no longer read, at once. Who may still do so comes again.
    pub(crate) fn turn_away(&self, whom: impl Fn(&ApiKey) -> bool) {
        let state = self.state.lock();
        let queues = state.readers.values().flat_map(BTreeMap::values);
        queues
            .filter(|queue| whom(&queue.key))
            .for_each(|queue| queue.turn_away());
    }

    /// Ends the streams of an emitter that is gone.
    pub(crate) fn end(&self, emitter: &EmitterId) {
        let readers = self.state.lock().readers.remove(emitter);
        for queue in readers.iter().flat_map(BTreeMap::values) {
            queue.end();
        }
    }

    fn register(
        self: &Arc<Self>,
        emitter: EmitterId,
        channels: ChannelFilter,
        key: ApiKey,
    ) -> Reader {
        let queue = Arc::new(Queue::new(channels, key));
        let mut state = self.state.lock();
        state.readers_ever += 1;
        let number = state.readers_ever;
        let readers = state.readers.entry(emitter.clone()).or_default();
        readers.insert(number, Arc::clone(&queue));
        drop(state);
        Reader {
            feeds: Arc::clone(self),
            emitter,
            number,
            queue,
        }
    }

    fn leave(&self, emitter: &EmitterId, number: u64) {
        let mut state = self.state.lock();
        if let Some(readers) = state.readers.get_mut(emitter) {
            readers.remove(&number);
            if readers.is_empty() {
                state.readers.remove(emitter);
            }
        }
    }

    fn begin_at(&self, end: LogPosition) {
        self.state.lock().read_up_to.get_or_insert(end);
    }

    /// Where the tail goes on. Without readers it ends.
    fn next_step(&self) -> Option<LogPosition> {
        let mut state = self.state.lock();
        if state.readers.is_empty() {
            state.read_up_to = None;
        }
        state.read_up_to
    }

    fn hand_out(&self, events: Vec<Appended>, up_to: LogPosition) {
        let mut state = self.state.lock();
        let mut batches: HashMap<EmitterId, Vec<Arc<Followed>>> = HashMap::new();
        for appended in events {
            if state.readers.contains_key(&appended.emitter) {
                let followed = Followed::new(appended.event, Some(appended.position));
                batches.entry(appended.emitter).or_default().push(followed);
            }
        }
        for (emitter, events) in batches {
            let bytes = events.iter().map(|followed| followed.size()).sum();
            let batch: Batch = events.into();
            for queue in state.readers.get(&emitter).into_iter().flatten() {
                queue.1.push(&batch, bytes);
            }
        }
        state.read_up_to = Some(up_to);
    }
}

/// What waits for one reader.
struct Queue {
    channels: ChannelFilter,
    /// By which it reads.
    key: ApiKey,
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Default)]
struct Waiting {
    batches: VecDeque<(Batch, usize)>,
    bytes: usize,
    has_ended: bool,
    is_turned_away: bool,
}

impl Queue {
    fn new(channels: ChannelFilter, key: ApiKey) -> Self {
        Self {
            channels,
            key,
            waiting: Mutex::default(),
            bell: Notify::new(),
        }
    }

    /// Whoever is too far behind loses its place, and what waits for it is given up.
    fn push(&self, batch: &Batch, bytes: usize) {
        let is_for_it = |followed: &Arc<Followed>| self.channels.covers(&followed.event.channel);
        let mut waiting = self.waiting.lock();
        if waiting.has_ended || !batch.iter().any(is_for_it) {
            return;
        }
        if waiting.bytes > WAITING_BYTES {
            *waiting = Waiting {
                has_ended: true,
                ..Waiting::default()
            };
        } else {
            waiting.batches.push_back((Arc::clone(batch), bytes));
            waiting.bytes += bytes;
        }
        self.bell.notify_one();
    }

    fn end(&self) {
        self.waiting.lock().has_ended = true;
        self.bell.notify_one();
    }

    fn turn_away(&self) {
        *self.waiting.lock() = Waiting {
            has_ended: true,
            is_turned_away: true,
            ..Waiting::default()
        };
        self.bell.notify_one();
    }
}

/// One reader's place at a feed, until it is dropped.
struct Reader {
    feeds: Arc<Feeds>,
    emitter: EmitterId,
    number: u64,
    queue: Arc<Queue>,
}

impl Reader {
    /// What comes next; `None` when the feed has ended or has left the reader behind.
    async fn next(&self) -> Option<Batch> {
        loop {
            let rings = self.queue.bell.notified();
            {
                let mut waiting = self.queue.waiting.lock();
                if let Some((batch, bytes)) = waiting.batches.pop_front() {
                    waiting.bytes -= bytes;
                    return Some(batch);
                }
                if waiting.has_ended {
                    return None;
                }
            }
            rings.await;
        }
    }

    fn is_turned_away(&self) -> bool {
        self.queue.waiting.lock().is_turned_away
    }

    /// The first event that waits, of whatever channel.
    fn first_waiting(&self) -> Option<EventId> {
        let waiting = self.queue.waiting.lock();
        let (batch, _) = waiting.batches.front()?;
        batch.first().map(|followed| followed.event.id)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.feeds.leave(&self.emitter, self.number);
    }
}

impl Platform {
    /// One step of the tail: what was appended goes to who follows its emitter.
    pub(crate) async fn read_along(&self) -> Result<Progress, StoreError> {
        let Some(after) = self.feeds.next_step() else {
            return Ok(Progress::default());
        };
        let tail = self.store.tail(after, STEP).await?;
        let found = tail.events.len() as u64;
        self.feeds.hand_out(tail.events, tail.up_to);
        if found > 0 {
            tokio::time::sleep(PACE).await;
        }
        Ok(Progress {
            done: found,
            more: found > 0,
            ..Progress::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::{
        channel::{Channel, ChannelClass},
        id::{KeyId, SourceId, UserId},
    };
    use serde_json::value::RawValue;

    use super::*;

    fn appended(emitter: &EmitterId, position: u64, channel: &str, bytes: usize) -> Appended {
        let event = Event {
            id: EventId {
                ms: position,
                sequence: 0,
            },
            indexed_at_ms: position,
            channel: Channel::named(channel),
            event: RawValue::from_string(format!("\"{}\"", "x".repeat(bytes))).unwrap(),
            key: None,
            summary: None,
            ts: None,
        };
        Appended {
            position: LogPosition(position),
            emitter: emitter.clone(),
            event,
        }
    }

    fn feed() -> (Arc<Feeds>, EmitterId) {
        (Arc::default(), EmitterId::from(SourceId::new(1, 1)))
    }

    fn key(number: u128) -> ApiKey {
        ApiKey {
            id: KeyId::new(number as u64, number),
            user_id: UserId::new(1, number),
            name: "key".to_owned(),
            hash: "hash".to_owned(),
            created_at: 1,
            last_used_at: None,
        }
    }

    fn tell(feeds: &Feeds, emitter: &EmitterId, position: u64, bytes: usize) {
        let event = appended(emitter, position, "", bytes);
        feeds.hand_out(vec![event], LogPosition(position));
    }

    const ORDINARY: ChannelFilter = ChannelFilter::Class(ChannelClass::Ordinary);

    #[tokio::test]
    async fn a_reader_that_leaves_too_much_waiting_is_dropped_and_the_others_go_on() {
        let (feeds, emitter) = feed();
        let hanging = feeds.register(emitter.clone(), ORDINARY, key(1));
        let reading = feeds.register(emitter.clone(), ORDINARY, key(1));
        for position in 1..=5 {
            tell(&feeds, &emitter, position, WAITING_BYTES / 3);
            let batch = reading.next().await.unwrap();
            assert_eq!(batch[0].event.id.ms, position);
        }
        assert!(hanging.next().await.is_none());
        assert_eq!(hanging.queue.waiting.lock().bytes, 0, "given up");
    }

    #[tokio::test]
    async fn a_reader_gets_what_is_of_its_emitter_and_channels() {
        let (feeds, emitter) = feed();
        let other = EmitterId::from(SourceId::new(2, 1));
        let errors = ChannelFilter::Named(Channel::errors());
        let reader = feeds.register(emitter.clone(), errors, key(1));
        let events = [
            appended(&other, 1, Channel::ERRORS, 1),
            appended(&emitter, 2, "", 1),
        ];
        feeds.hand_out(events.into(), LogPosition(2));
        assert!(reader.first_waiting().is_none());
        let event = appended(&emitter, 3, Channel::ERRORS, 1);
        feeds.hand_out(vec![event], LogPosition(3));
        assert_eq!(reader.next().await.unwrap()[0].event.id.ms, 3);
    }

    #[tokio::test]
    async fn what_waits_is_read_before_the_end() {
        let (feeds, emitter) = feed();
        let reader = feeds.register(emitter.clone(), ORDINARY, key(1));
        tell(&feeds, &emitter, 1, 1);
        feeds.end(&emitter);
        assert!(reader.next().await.is_some());
        assert!(reader.next().await.is_none());
    }

    #[tokio::test]
    async fn who_is_turned_away_gets_nothing_of_what_waits() {
        let (feeds, emitter) = feed();
        let [one, two] = [1, 2].map(|by| feeds.register(emitter.clone(), ORDINARY, key(by)));
        tell(&feeds, &emitter, 1, 1);
        feeds.turn_away(|found| found.id == key(1).id);
        tell(&feeds, &emitter, 2, 1);
        assert!(one.next().await.is_none());
        assert!(one.is_turned_away());
        assert_eq!(two.next().await.unwrap()[0].event.id.ms, 1);
        assert_eq!(two.next().await.unwrap()[0].event.id.ms, 2);
    }

    #[test]
    fn the_tail_ends_with_the_last_reader() {
        let (feeds, emitter) = feed();
        let readers = [(); 2].map(|()| feeds.register(emitter.clone(), ORDINARY, key(1)));
        feeds.begin_at(LogPosition(7));
        assert_eq!(feeds.next_step(), Some(LogPosition(7)));
        let [one, two] = readers;
        drop(one);
        assert_eq!(feeds.next_step(), Some(LogPosition(7)));
        drop(two);
        assert_eq!(feeds.next_step(), None);
        assert_eq!(feeds.read_up_to(), None, "retention waits for nobody");
    }

    #[test]
    fn the_form_that_is_sent_is_made_once() {
        let (_, emitter) = feed();
        let followed = Followed::new(appended(&emitter, 1, "", 1).event, None);
        let made = followed.form(|_| Bytes::from_static(b"made"));
        assert_eq!(made, followed.form(|_| unreachable!("it is there")));
    }
}
