//! Deliveries of one webhook that wait in memory, and which of them is attempted next.
//!
//! While the webhook is healthy, each emitter's first attempts go out one after the other, in order.
//! While it fails, order is lost anyway, and every waiting delivery may go; so it may for a webhook
//! that wants no order. Retries never hold first attempts back: they come after them and may have half
//! of the webhook's attempts in flight.

use std::collections::{HashMap, VecDeque};

use headwater_model::id::EmitterId;
use headwater_store::{ClaimLimit, ClaimedDelivery};

/// Retries that wait in memory; more wait in the store, so that first attempts are claimed meanwhile.
const RETRIES_WAITING_MAX: usize = 64;
/// Bytes of events that wait in memory, apart from the one that exceeds them.
const BYTES_WAITING_MAX: u64 = 16 << 20;

/// First attempts of one emitter's events.
#[derive(Default)]
struct Lane {
    /// Boxed: mostly one waits, and the deque takes room for four.
    waiting: VecDeque<Box<ClaimedDelivery>>,
    in_flight: usize,
}

/// The waiting items.
pub(super) struct Queue {
    lanes: HashMap<EmitterId, Lane>,
    /// Emitters that may go on, in turn. One that can no more is passed over.
    ready: VecDeque<EmitterId>,
    retries: VecDeque<ClaimedDelivery>,
    retries_in_flight: usize,
    retries_max: usize,
    waiting: usize,
    /// Of the events that wait.
    bytes: u64,
}

fn bytes_of(delivery: &ClaimedDelivery) -> u64 {
    delivery.event.event.get().len() as u64
}

impl Queue {
    /// For a webhook with that many attempts in flight at most.
    pub(super) fn new(concurrency: usize) -> Self {
        Self {
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            retries: VecDeque::new(),
            retries_in_flight: 0,
            retries_max: (concurrency / 2).max(1),
            waiting: 0,
            bytes: 0,
        }
    }

    /// The number of waiting deliveries.
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// The number of those that wait for their first attempt.
    pub(super) fn first_len(&self) -> usize {
        self.waiting - self.retries.len()
    }

    /// The bound of a claim of that many deliveries.
    pub(super) fn room(&self, deliveries: u32) -> ClaimLimit {
        let retries = RETRIES_WAITING_MAX.saturating_sub(self.retries.len());
        ClaimLimit {
            deliveries,
            retries: u32::try_from(retries).unwrap_or(u32::MAX),
            bytes: BYTES_WAITING_MAX.saturating_sub(self.bytes),
        }
    }

    /// Whether events have become few enough in bytes for a claim to be worth it.
    pub(super) fn is_light(&self) -> bool {
        self.bytes <= BYTES_WAITING_MAX / 2
    }

    /// Whether retries have become few enough for a claim to be worth it.
    pub(super) fn is_short_of_retries(&self) -> bool {
        self.retries.len() <= RETRIES_WAITING_MAX / 2
    }

    /// Adds claimed deliveries.
    pub(super) fn push(&mut self, delivery: ClaimedDelivery) {
        self.waiting += 1;
        self.bytes += bytes_of(&delivery);
        if delivery.attempts > 0 {
            self.retries.push_back(delivery);
            return;
        }
        let emitter = delivery.event.emitter.clone();
        let lane = self.lanes.entry(emitter.clone()).or_default();
        if lane.waiting.is_empty() && lane.in_flight == 0 {
            self.ready.push_back(emitter);
        }
        lane.waiting.push_back(Box::new(delivery));
    }

    /// Whether something may be attempted now.
    pub(super) fn has_next(&self, unordered: bool) -> bool {
        let retry = !self.retries.is_empty() && self.retries_in_flight < self.retries_max;
        let first = match unordered {
            true => self.first_len() > 0,
            false => self.ready.iter().any(|emitter| self.is_ready(emitter)),
        };
        first || retry
    }

    /// The next delivery to attempt; it counts as in flight until [`Queue::ended`].
    pub(super) fn next(&mut self, unordered: bool) -> Option<ClaimedDelivery> {
        let next = self.next_first(unordered).or_else(|| self.next_retry())?;
        self.waiting -= 1;
        self.bytes -= bytes_of(&next);
        Some(next)
    }

    /// An attempt that [`Queue::next`] gave has ended.
    pub(super) fn ended(&mut self, delivery: &ClaimedDelivery) {
        if delivery.attempts > 0 {
            self.retries_in_flight -= 1;
            return;
        }
        let emitter = &delivery.event.emitter;
        let Some(lane) = self.lanes.get_mut(emitter) else {
            return;
        };
        lane.in_flight -= 1;
        if lane.in_flight == 0 {
            match lane.waiting.is_empty() {
                true => drop(self.lanes.remove(emitter)),
                false => self.ready.push_back(emitter.clone()),
            }
        }
    }

    /// Puts a delivery back that [`Queue::next`] gave and whose attempt came to nothing. It is the next one again.
    pub(super) fn put_back(&mut self, delivery: ClaimedDelivery) {
        self.waiting += 1;
        self.bytes += bytes_of(&delivery);
        if delivery.attempts > 0 {
            self.retries_in_flight -= 1;
            return self.retries.push_front(delivery);
        }
        let emitter = delivery.event.emitter.clone();
        let lane = self.lanes.entry(emitter.clone()).or_default();
        lane.in_flight -= 1;
        lane.waiting.push_front(Box::new(delivery));
        if lane.in_flight == 0 {
            self.ready.push_front(emitter);
        }
    }

    /// Takes out everything that waits.
    pub(super) fn drain(&mut self) -> Vec<ClaimedDelivery> {
        self.ready.clear();
        self.waiting = 0;
        self.bytes = 0;
        let lanes = self.lanes.values_mut();
        let first = lanes.flat_map(|lane| lane.waiting.drain(..).map(|delivery| *delivery));
        let drained = first.chain(self.retries.drain(..)).collect();
        self.lanes.retain(|_, lane| lane.in_flight > 0);
        drained
    }

    fn is_ready(&self, emitter: &EmitterId) -> bool {
        let lane = self.lanes.get(emitter);
        lane.is_some_and(|lane| lane.in_flight == 0 && !lane.waiting.is_empty())
    }

    fn next_first(&mut self, unordered: bool) -> Option<ClaimedDelivery> {
        while let Some(emitter) = self.ready.pop_front() {
            if self.is_ready(&emitter) {
                return self.take(&emitter);
            }
        }
        if !unordered || self.first_len() == 0 {
            return None;
        }
        let mut lanes = self.lanes.iter();
        let (emitter, _) = lanes.find(|(_, lane)| !lane.waiting.is_empty())?;
        let emitter = emitter.clone();
        self.take(&emitter)
    }

    fn take(&mut self, emitter: &EmitterId) -> Option<ClaimedDelivery> {
        let lane = self.lanes.get_mut(emitter)?;
        let delivery = lane.waiting.pop_front()?;
        lane.in_flight += 1;
        Some(*delivery)
    }

    fn next_retry(&mut self) -> Option<ClaimedDelivery> {
        if self.retries_in_flight >= self.retries_max {
            return None;
        }
        let delivery = self.retries.pop_front()?;
        self.retries_in_flight += 1;
        Some(delivery)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use headwater_model::{
        channel::Channel,
        id::{DeliveryId, EventId, SourceId, SubscriptionId},
        time::EpochMs,
        webhook::AttemptCause,
    };
    use headwater_store::{DeliveredEvent, DeliveryLease, NodeEpoch};
    use serde_json::value::RawValue;

    use super::*;

    pub(in crate::couriers) fn delivery(
        emitter: u128,
        sequence: u32,
        attempts: u32,
    ) -> ClaimedDelivery {
        ClaimedDelivery {
            lease: DeliveryLease {
                delivery_id: DeliveryId::new(EpochMs(u64::from(sequence)), emitter << 64),
                epoch: NodeEpoch(1),
                number: 1,
            },
            event: DeliveredEvent {
                emitter: EmitterId::from(SourceId::new(EpochMs(emitter as u64), 0)),
                id: EventId {
                    ms: EpochMs(1),
                    sequence,
                },
                channel: Channel::default(),
                event: RawValue::NULL.to_owned(),
                trace: None,
            },
            subscription_id: SubscriptionId::new(EpochMs(1), 1),
            attempts,
            cause: AttemptCause::Event,
        }
    }

    fn queue(deliveries: &[(u128, u32, u32)]) -> Queue {
        let mut queue = Queue::new(8);
        for &(emitter, sequence, attempts) in deliveries {
            queue.push(delivery(emitter, sequence, attempts));
        }
        queue
    }

    fn take(queue: &mut Queue, failing: bool) -> Vec<ClaimedDelivery> {
        let all = std::iter::from_fn(|| queue.next(failing)).collect();
        assert!(!queue.has_next(failing));
        all
    }

    fn sequences(deliveries: &[ClaimedDelivery]) -> Vec<u32> {
        let ids = deliveries.iter().map(|delivery| delivery.event.id);
        ids.map(|id| id.sequence).collect()
    }

    #[test]
    fn a_healthy_webhook_has_one_first_attempt_per_emitter_in_flight_in_order() {
        let mut queue = queue(&[(1, 1, 0), (1, 2, 0), (2, 3, 0), (1, 4, 0)]);
        let first = take(&mut queue, false);
        assert_eq!(sequences(&first), [1, 3]);
        queue.ended(&first[1]);
        assert!(
            !queue.has_next(false),
            "the second emitter has nothing more"
        );
        queue.ended(&first[0]);
        let second = take(&mut queue, false);
        assert_eq!(sequences(&second), [2]);
        queue.ended(&second[0]);
        assert_eq!(sequences(&take(&mut queue, false)), [4]);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn what_is_put_back_is_next_again() {
        let mut queue = queue(&[(1, 1, 0), (1, 2, 0), (2, 3, 1), (2, 4, 1)]);
        for delivery in take(&mut queue, false) {
            queue.put_back(delivery);
        }
        assert_eq!((queue.len(), queue.first_len()), (4, 2));
        let again = take(&mut queue, false);
        assert_eq!(sequences(&again), [1, 4, 3]);
        again.iter().for_each(|delivery| queue.ended(delivery));
        assert_eq!(sequences(&take(&mut queue, false)), [2]);
    }

    #[test]
    fn a_failing_webhook_lets_everything_go() {
        let mut queue = queue(&[(1, 1, 0), (1, 2, 0), (2, 3, 0), (1, 4, 0)]);
        let mut taken = sequences(&take(&mut queue, true));
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3, 4]);
    }

    #[test]
    fn order_holds_again_once_what_went_out_of_order_has_ended() {
        let mut queue = queue(&[(1, 1, 0), (1, 2, 0)]);
        let disorderly = take(&mut queue, true);
        queue.push(delivery(1, 3, 0));
        queue.push(delivery(1, 4, 0));
        queue.ended(&disorderly[0]);
        assert!(!queue.has_next(false));
        queue.ended(&disorderly[1]);
        assert_eq!(sequences(&take(&mut queue, false)), [3]);
    }

    #[test]
    fn retries_come_after_first_attempts_and_have_half_of_the_room() {
        let retries: Vec<_> = (1..=6).map(|sequence| (1, sequence, 1)).collect();
        let mut queue = queue(&retries);
        queue.push(delivery(1, 7, 0));
        let taken = take(&mut queue, false);
        assert_eq!(sequences(&taken), [7, 1, 2, 3, 4]);
        queue.push(delivery(2, 8, 0));
        assert_eq!(sequences(&take(&mut queue, false)), [8]);
        queue.ended(&taken[1]);
        assert_eq!(sequences(&take(&mut queue, false)), [5]);
    }

    #[test]
    fn a_retry_in_flight_does_not_hold_back_its_emitters_first_attempts() {
        let mut queue = queue(&[(1, 1, 3)]);
        assert_eq!(take(&mut queue, false).len(), 1);
        queue.push(delivery(1, 2, 0));
        assert_eq!(sequences(&take(&mut queue, false)), [2]);
    }

    #[test]
    fn there_is_room_for_as_many_retries_as_may_wait() {
        let retries: Vec<_> = (1..=64).map(|sequence| (1, sequence, 1)).collect();
        let mut queue = queue(&retries);
        queue.push(delivery(1, 65, 0));
        assert_eq!((queue.len(), queue.first_len()), (65, 1));
        assert_eq!(queue.room(256).retries, 0);
        assert!(!queue.is_short_of_retries());
        for _ in 0..33 {
            let retry = queue.next(true).unwrap();
            queue.ended(&retry);
        }
        assert_eq!(queue.room(256).retries, 32);
        assert!(queue.is_short_of_retries());
    }

    #[test]
    fn there_is_room_for_as_many_bytes_as_may_wait() {
        let mut queue = Queue::new(8);
        let large = || {
            let mut large = delivery(1, 1, 0);
            let text = format!("\"{}\"", "x".repeat((6 << 20) - 2));
            large.event.event = RawValue::from_string(text).unwrap();
            large
        };
        for (is_light, bytes) in [(true, 16 << 20), (true, 10 << 20), (false, 4 << 20)] {
            let limit = queue.room(256);
            assert_eq!((queue.is_light(), limit.bytes), (is_light, bytes));
            queue.push(large());
        }
        assert_eq!(queue.room(256).bytes, 0);
        let _in_flight = queue.next(false).unwrap();
        assert_eq!(queue.room(256).bytes, 4 << 20);
        queue.drain();
        assert_eq!(queue.room(256).bytes, 16 << 20);
    }

    #[test]
    fn draining_leaves_what_is_in_flight() {
        let mut queue = queue(&[(1, 1, 0), (1, 2, 0), (2, 3, 1)]);
        let first = queue.next(false).unwrap();
        assert_eq!(queue.drain().len(), 2);
        assert_eq!((queue.len(), queue.has_next(true)), (0, false));
        queue.ended(&first);
        queue.push(delivery(1, 4, 0));
        assert_eq!(sequences(&take(&mut queue, false)), [4]);
    }
}
