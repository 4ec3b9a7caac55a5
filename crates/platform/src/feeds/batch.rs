//! Events of one emitter as its readers share them: kept once, and formatted once for all.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use headwater_model::event::Event;
use headwater_store::LogPosition;

/// A batch with this much is full: a slow connection holds no more than one of what was taken for it.
const FULL: usize = 64 * 1024;
/// The memory of an event besides its data.
const EVENT_BYTES: usize = 256;

/// An event, and its place in the whole log; unknown if it was replayed.
pub(super) struct Followed {
    pub(super) event: Event,
    pub(super) position: Option<LogPosition>,
}

/// Events of one emitter, in order.
pub(super) struct Batch {
    pub(super) events: Vec<Followed>,
    /// The memory that they take.
    pub(super) bytes: usize,
    text: OnceLock<Text>,
}

/// Events as they are sent, and where each ends.
struct Text {
    bytes: Bytes,
    ends: Vec<usize>,
}

impl Batch {
    /// Cuts a step of the tail, or a page of the log, where a batch is full.
    pub(super) fn cut(events: impl IntoIterator<Item = Followed>) -> Vec<Arc<Self>> {
        let mut batches = Vec::new();
        let mut current = Self::empty();
        for followed in events {
            current.bytes += EVENT_BYTES + followed.event.event.get().len();
            current.events.push(followed);
            if current.bytes >= FULL {
                batches.push(Arc::new(std::mem::replace(&mut current, Self::empty())));
            }
        }
        if !current.events.is_empty() {
            batches.push(Arc::new(current));
        }
        batches
    }

    fn empty() -> Self {
        Self {
            events: Vec::new(),
            bytes: 0,
            text: OnceLock::new(),
        }
    }

    /// The events that a reader takes, as few portions as they can be.
    pub(super) fn portions(self: &Arc<Self>, takes: impl Fn(&Followed) -> bool) -> Vec<Portion> {
        let mut portions: Vec<Portion> = Vec::new();
        for (at, _) in self.events.iter().enumerate().filter(|(_, one)| takes(one)) {
            match portions.last_mut() {
                Some(last) if last.range.end == at => last.range.end += 1,
                _ => portions.push(Portion {
                    batch: Arc::clone(self),
                    range: at..at + 1,
                }),
            }
        }
        portions
    }

    fn text(&self, write: impl Fn(&Event, &mut Vec<u8>)) -> &Text {
        self.text.get_or_init(|| {
            let mut text = Vec::new();
            let mut ends = Vec::with_capacity(self.events.len());
            for followed in &self.events {
                write(&followed.event, &mut text);
                ends.push(text.len());
            }
            Text {
                bytes: text.into(),
                ends,
            }
        })
    }
}

/// Events of one emitter that follow each other and go to a reader together. Readers share them.
pub struct Portion {
    batch: Arc<Batch>,
    /// Never empty.
    range: Range<usize>,
}

impl Portion {
    /// The events, oldest first.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        let taken = self.batch.events[self.range.clone()].iter();
        taken.map(|followed| &followed.event)
    }

    /// The events as they are sent, one after the other. `write` appends one event; it runs once for all
    /// readers, so there is one such form.
    pub fn text(&self, write: impl Fn(&Event, &mut Vec<u8>)) -> Bytes {
        let text = self.batch.text(write);
        let start = match self.range.start {
            0 => 0,
            first => text.ends[first - 1],
        };
        text.bytes.slice(start..text.ends[self.range.end - 1])
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use headwater_model::{channel::Channel, id::EventId, time::EpochMs};
    use serde_json::value::RawValue;

    use super::*;

    fn followed(number: u64, bytes: usize) -> Followed {
        let event = Event {
            id: EventId {
                ms: EpochMs(number),
                sequence: 0,
            },
            indexed_at_ms: EpochMs(number),
            channel: Channel::named(""),
            event: RawValue::from_string(format!("\"{}\"", "x".repeat(bytes))).unwrap(),
            key: None,
            summary: None,
            ts: None,
            run_id: None,
        };
        Followed {
            event,
            position: None,
        }
    }

    fn batch() -> Arc<Batch> {
        let [batch] = Batch::cut((0..5).map(|number| followed(number, 1)))
            .try_into()
            .unwrap_or_else(|_| panic!("one batch"));
        batch
    }

    fn number(event: &Event, text: &mut Vec<u8>) {
        text.extend_from_slice(format!("<{}>", event.id.ms.0).as_bytes());
    }

    #[test]
    fn a_reader_gets_what_it_takes_in_order() {
        let batch = batch();
        let texts = |takes: &dyn Fn(u64) -> bool| -> Vec<Bytes> {
            let portions = batch.portions(|followed| takes(followed.event.id.ms.0));
            portions.iter().map(|one| one.text(number)).collect()
        };
        assert_eq!(texts(&|_| true), ["<0><1><2><3><4>"]);
        assert_eq!(texts(&|at| at != 2), ["<0><1>", "<3><4>"]);
        assert_eq!(texts(&|at| at > 3), ["<4>"]);
        assert!(texts(&|_| false).is_empty());
    }

    #[test]
    fn events_are_formatted_once_for_all_readers() {
        let (batch, formatted) = (batch(), Cell::new(0));
        for _ in 0..3 {
            for portion in batch.portions(|_| true) {
                portion.text(|event, text| {
                    formatted.set(formatted.get() + 1);
                    number(event, text);
                });
            }
        }
        assert_eq!(formatted.get(), 5);
    }

    #[test]
    fn a_full_batch_is_followed_by_another_and_none_is_lost() {
        let batches = Batch::cut((0..10).map(|number| followed(number, FULL / 4)));
        let sizes: Vec<_> = batches.iter().map(|batch| batch.events.len()).collect();
        assert_eq!(sizes, [4, 4, 2]);
        let ids = batches.iter().flat_map(|batch| &batch.events);
        assert!(ids.map(|followed| followed.event.id.ms.0).eq(0..10));
    }
}
