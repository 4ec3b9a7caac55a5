//! The readers of this node: the events that wait for each, and the tail's position.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
};

use headwater_model::id::{EmitterId, EventId};
use headwater_store::{ApiKey, Appended, ChannelFilter, LogPosition};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use super::batch::{Batch, Followed};

/// The bound of events that wait for one reader, besides the step that it overflows with. Readers share
/// the events.
const WAITING_BYTES: usize = 16 * 1024 * 1024;
/// The readers by emitter, and the tail's position.
#[derive(Default)]
pub(super) struct Readers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    readers: HashMap<EmitterId, BTreeMap<u64, Arc<Queue>>>,
    readers_ever: u64,
    read_up_to: Option<LogPosition>,
    /// Those who read the log themselves, and are told when it grows.
    watchers: usize,
    grown: watch::Sender<()>,
}

/// Somebody who is told when the log grows, until it is dropped.
pub(super) struct Watcher {
    readers: Arc<Readers>,
}

impl Watcher {
    pub(super) fn grown(&self) -> watch::Receiver<()> {
        self.readers.state.lock().grown.subscribe()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.readers.state.lock().watchers -= 1;
    }
}

impl Readers {
    /// Up to where readers have been given the log; `None` while nobody reads.
    pub(super) fn read_up_to(&self) -> Option<LogPosition> {
        self.state.lock().read_up_to
    }

    /// Closes the streams of readers that lost access; those that still have it reconnect.
    pub(super) fn disconnect(&self, whom: impl Fn(&ApiKey) -> bool) {
        let state = self.state.lock();
        let queues = state.readers.values().flat_map(BTreeMap::values);
        queues
            .filter(|queue| whom(&queue.key))
            .for_each(|queue| queue.disconnect());
    }

    /// Ends the streams of an emitter that is gone.
    pub(super) fn end(&self, emitter: &EmitterId) {
        let readers = self.state.lock().readers.remove(emitter);
        for queue in readers.iter().flat_map(BTreeMap::values) {
            queue.end();
        }
    }

    pub(super) fn register(
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
            readers: Arc::clone(self),
            emitter,
            number,
            queue,
        }
    }

    pub(super) fn watch(self: &Arc<Self>) -> Watcher {
        self.state.lock().watchers += 1;
        Watcher {
            readers: Arc::clone(self),
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

    pub(super) fn begin_at(&self, end: LogPosition) {
        self.state.lock().read_up_to.get_or_insert(end);
    }

    /// The place at which the tail continues. Without readers it ends.
    pub(super) fn next_step(&self) -> Option<LogPosition> {
        let mut state = self.state.lock();
        if state.readers.is_empty() && state.watchers == 0 {
            state.read_up_to = None;
        }
        state.read_up_to
    }

    pub(super) fn hand_out(&self, events: Vec<Appended>, up_to: LogPosition) {
        let mut state = self.state.lock();
        if !events.is_empty() {
            state.grown.send_replace(());
        }
        let mut found: HashMap<EmitterId, Vec<Followed>> = HashMap::new();
        for appended in events {
            if state.readers.contains_key(&appended.emitter) {
                let followed = Followed {
                    event: appended.event,
                    position: Some(appended.position),
                };
                found.entry(appended.emitter).or_default().push(followed);
            }
        }
        for (emitter, events) in found {
            let batches = Batch::cut(events);
            for queue in state.readers.get(&emitter).into_iter().flatten() {
                queue.1.push(&batches);
            }
        }
        state.read_up_to = Some(up_to);
    }
}

/// The events that wait for one reader.
struct Queue {
    channels: ChannelFilter,
    /// The handle with which it reads.
    key: ApiKey,
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Default)]
struct Waiting {
    batches: VecDeque<Arc<Batch>>,
    bytes: usize,
    has_ended: bool,
    is_disconnected: bool,
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

    /// A reader too far behind loses its place, and its events are given up.
    fn push(&self, batches: &[Arc<Batch>]) {
        let is_for_it = |followed: &Followed| self.channels.covers(&followed.event.channel);
        let mut waiting = self.waiting.lock();
        if waiting.has_ended {
            return;
        }
        let is_behind = waiting.bytes > WAITING_BYTES;
        let mut wanted = batches
            .iter()
            .filter(|batch| batch.events.iter().any(is_for_it))
            .peekable();
        if wanted.peek().is_none() {
            return;
        }
        if is_behind {
            *waiting = Waiting {
                has_ended: true,
                ..Waiting::default()
            };
        } else {
            for batch in wanted {
                waiting.bytes += batch.bytes;
                waiting.batches.push_back(Arc::clone(batch));
            }
        }
        self.bell.notify_one();
    }

    fn end(&self) {
        self.waiting.lock().has_ended = true;
        self.bell.notify_one();
    }

    fn disconnect(&self) {
        *self.waiting.lock() = Waiting {
            has_ended: true,
            is_disconnected: true,
            ..Waiting::default()
        };
        self.bell.notify_one();
    }
}

/// One reader's place at a feed, until it is dropped.
pub(super) struct Reader {
    readers: Arc<Readers>,
    pub(super) emitter: EmitterId,
    number: u64,
    queue: Arc<Queue>,
}

impl Reader {
    /// The next events; `None` if the feed has ended or has left the reader behind.
    pub(super) async fn next(&self) -> Option<Arc<Batch>> {
        loop {
            let rings = self.queue.bell.notified();
            {
                let mut waiting = self.queue.waiting.lock();
                if let Some(batch) = waiting.batches.pop_front() {
                    waiting.bytes -= batch.bytes;
                    return Some(batch);
                }
                if waiting.has_ended {
                    return None;
                }
            }
            rings.await;
        }
    }

    pub(super) fn is_disconnected(&self) -> bool {
        self.queue.waiting.lock().is_disconnected
    }

    /// The first event that waits, of whatever channel.
    pub(super) fn first_waiting(&self) -> Option<EventId> {
        let waiting = self.queue.waiting.lock();
        let batch = waiting.batches.front()?;
        batch.events.first().map(|followed| followed.event.id)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.readers.leave(&self.emitter, self.number);
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::{
        channel::{Channel, ChannelClass},
        event::Event,
        hash::SecretHash,
        id::{KeyId, SourceId, UserId},
        time::{EpochMs, EpochSeconds},
    };
    use serde_json::value::RawValue;

    use super::*;

    fn appended(emitter: &EmitterId, position: u64, channel: &str, bytes: usize) -> Appended {
        let event = Event {
            id: EventId {
                ms: EpochMs(position),
                sequence: 0,
            },
            indexed_at_ms: EpochMs(position),
            channel: Channel::named(channel),
            event: RawValue::from_string(format!("\"{}\"", "x".repeat(bytes))).unwrap(),
            key: None,
            summary: None,
            ts: None,
            run_id: None,
        };
        Appended {
            position: LogPosition(position),
            emitter: emitter.clone(),
            event,
        }
    }

    fn feed() -> (Arc<Readers>, EmitterId) {
        (
            Arc::default(),
            EmitterId::from(SourceId::new(EpochMs(1), 1)),
        )
    }

    fn key(number: u128) -> ApiKey {
        ApiKey {
            id: KeyId::new(EpochMs(number as u64), number),
            user_id: UserId::new(EpochMs(1), number),
            name: "key".to_owned(),
            hash: SecretHash::new("hash"),
            created_at: EpochSeconds(1),
            last_used_at: None,
        }
    }

    fn tell(readers: &Readers, emitter: &EmitterId, position: u64, bytes: usize) {
        let event = appended(emitter, position, "", bytes);
        readers.hand_out(vec![event], LogPosition(position));
    }

    const ORDINARY: ChannelFilter = ChannelFilter::Class(ChannelClass::Ordinary);

    #[tokio::test]
    async fn a_reader_that_leaves_too_much_waiting_is_dropped_and_the_others_go_on() {
        let (readers, emitter) = feed();
        let hanging = readers.register(emitter.clone(), ORDINARY, key(1));
        let reading = readers.register(emitter.clone(), ORDINARY, key(1));
        for position in 1..=5 {
            tell(&readers, &emitter, position, WAITING_BYTES / 3);
            let batch = reading.next().await.unwrap();
            assert_eq!(batch.events[0].event.id.ms, EpochMs(position));
        }
        assert!(hanging.next().await.is_none());
        assert_eq!(hanging.queue.waiting.lock().bytes, 0, "given up");
    }

    #[tokio::test]
    async fn a_reader_gets_what_is_of_its_emitter_and_channels() {
        let (readers, emitter) = feed();
        let other = EmitterId::from(SourceId::new(EpochMs(2), 1));
        let errors = ChannelFilter::Named(Channel::errors());
        let reader = readers.register(emitter.clone(), errors, key(1));
        let events = [
            appended(&other, 1, Channel::ERRORS, 1),
            appended(&emitter, 2, "", 1),
        ];
        readers.hand_out(events.into(), LogPosition(2));
        assert!(reader.first_waiting().is_none());
        let event = appended(&emitter, 3, Channel::ERRORS, 1);
        readers.hand_out(vec![event], LogPosition(3));
        assert_eq!(
            reader.next().await.unwrap().events[0].event.id.ms,
            EpochMs(3)
        );
    }

    #[tokio::test]
    async fn what_waits_is_read_before_the_end() {
        let (readers, emitter) = feed();
        let reader = readers.register(emitter.clone(), ORDINARY, key(1));
        tell(&readers, &emitter, 1, 1);
        readers.end(&emitter);
        assert!(reader.next().await.is_some());
        assert!(reader.next().await.is_none());
    }

    #[tokio::test]
    async fn who_is_disconnected_gets_nothing_of_what_waits() {
        let (readers, emitter) = feed();
        let [one, two] = [1, 2].map(|by| readers.register(emitter.clone(), ORDINARY, key(by)));
        tell(&readers, &emitter, 1, 1);
        readers.disconnect(|found| found.id == key(1).id);
        tell(&readers, &emitter, 2, 1);
        assert!(one.next().await.is_none());
        assert!(one.is_disconnected());
        assert_eq!(two.next().await.unwrap().events[0].event.id.ms, EpochMs(1));
        assert_eq!(two.next().await.unwrap().events[0].event.id.ms, EpochMs(2));
    }

    #[test]
    fn the_tail_ends_with_the_last_reader() {
        let (readers, emitter) = feed();
        let both = [(); 2].map(|()| readers.register(emitter.clone(), ORDINARY, key(1)));
        readers.begin_at(LogPosition(7));
        assert_eq!(readers.next_step(), Some(LogPosition(7)));
        let [one, two] = both;
        drop(one);
        assert_eq!(readers.next_step(), Some(LogPosition(7)));
        drop(two);
        assert_eq!(readers.next_step(), None);
        assert_eq!(readers.read_up_to(), None, "retention waits for nobody");
    }
}
