//! One bounded step of dispatch: events are read ahead, and each is passed on to its listeners as far as the bounds go.

use std::collections::{BTreeSet, HashMap, VecDeque};

use headwater_model::{
    channel::ChannelClass,
    event,
    id::{RunnableId, WebhookId},
    limits::HOPS_MAX,
    time::EpochMs,
};
use headwater_store::StoreError;

use super::{
    cursor::Partial,
    held::Held,
    listeners::Listeners,
    pairs,
    passed::Passed,
    passing::{self, Passing},
    room::{ListeningSource, Rooms},
};
use crate::{append, connection::Connection, waiting_runs};

/// The most bytes of events' data that a step copies beyond its first pair: a step is one transaction.
const COPIED_BYTES: u64 = 8 * 1024 * 1024;

/// Events that are read at once.
pub(super) const AHEAD: u32 = 64;

/// One bounded step.
pub(super) struct Step<'a> {
    pub(super) connection: &'a Connection,
    pub(super) now_ms: EpochMs,
    pub(super) passed: u32,
    pub(super) pairs_left: u32,
    pub(super) copied_bytes: u64,
    pub(super) pairs_passed: Passed,
    /// Events that were read and are not passed yet.
    pub(super) ahead: VecDeque<Passing>,
    pub(super) listeners: Listeners,
    pub(super) rooms: Rooms,
    pub(super) held: Held,
    /// The number of runs that workflows let wait, as far as they were asked.
    bounds: HashMap<String, Option<u32>>,
    pub(super) woken: BTreeSet<RunnableId>,
    pub(super) woken_webhooks: BTreeSet<WebhookId>,
}

impl<'a> Step<'a> {
    /// A step at its beginning.
    pub(super) async fn begin(
        connection: &'a Connection,
        now_ms: EpochMs,
        limit: u32,
        queued_max: u32,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            connection,
            now_ms,
            passed: 0,
            pairs_left: limit,
            copied_bytes: 0,
            pairs_passed: Passed::new(now_ms, 0),
            ahead: VecDeque::new(),
            listeners: Listeners::default(),
            rooms: Rooms::new(queued_max),
            held: Held::read(connection).await?,
            bounds: HashMap::new(),
            woken: BTreeSet::new(),
            woken_webhooks: BTreeSet::new(),
        })
    }

    /// The first event after a position.
    pub(super) async fn next(&mut self, position: i64) -> Result<Option<Passing>, StoreError> {
        if self.ahead.is_empty() {
            self.ahead = passing::after(self.connection, position, AHEAD)
                .await?
                .into();
        }
        Ok(self.ahead.pop_front())
    }

    /// Passes an event on to its listeners. `Some`: the point at which the step has to stop.
    pub(super) async fn pass_on(
        &mut self,
        event: &Passing,
        mut partial: Partial,
    ) -> Result<Option<Partial>, StoreError> {
        let (Some(owner), false) = (
            &event.owner,
            event.channel.class() == ChannelClass::Scheduled,
        ) else {
            return Ok(None);
        };
        // Reading one more than may be passed shows whether these are all.
        let limit = self.pairs_left.saturating_add(1);
        let after = partial.subscription;
        let mut pairs = self
            .listeners
            .of(self.connection, event, owner, after, limit)
            .await?;
        let mut is_cut = pairs.len() > self.pairs_left as usize;
        pairs.truncate(self.pairs_left as usize);
        let mut is_kept = false;
        for pair in &pairs {
            if !pair.is_webhook() && self.is_held_back(event, pair).await? {
                self.pairs_left -= 1;
                partial.subscription = pair.subscription;
                continue;
            }
            let queued = self.takes_room(event, pair).await?;
            // All deliveries of an event share one copy.
            let is_copied = queued == Some(true) || (pair.is_webhook() && !is_kept);
            if is_copied && !self.may_copy(event.bytes) {
                is_cut = true;
                break;
            }
            self.pairs_left -= 1;
            partial.subscription = pair.subscription;
            if pair.is_webhook() {
                self.pairs_passed.deliver(event, pair);
                self.woken_webhooks.insert(pair.webhook()?);
                is_kept = true;
            } else if queued == Some(true) {
                self.pairs_passed.enqueue(event, pair);
                self.woken.insert(pair.runnable()?);
            } else if queued.is_none() && pair.runnable_owner.is_some() {
                self.report_hop_limit(event, &mut partial).await?;
            }
        }
        Ok(is_cut.then_some(partial))
    }

    /// Writes what the pairs that were passed on need.
    pub(super) async fn write(&mut self) -> Result<(), StoreError> {
        self.pairs_passed.write(self.connection).await
    }

    /// Whether a workflow lets one more run wait, beside those that the step has passed to it.
    pub(super) async fn may_wait(&mut self, workflow: &str) -> Result<bool, StoreError> {
        let bound = match self.bounds.get(workflow) {
            Some(bound) => *bound,
            None => {
                let bound = waiting_runs::bound(self.connection, workflow).await?;
                self.bounds.insert(workflow.to_owned(), bound);
                bound
            }
        };
        let Some(bound) = bound else {
            return Ok(true);
        };
        self.write().await?;
        Ok(waiting_runs::count(self.connection, workflow, bound).await? < bound)
    }

    /// Whether the event is to be queued for a listening source and finds room there; `None` when it is not to be.
    async fn takes_room(
        &mut self,
        event: &Passing,
        pair: &pairs::Pair,
    ) -> Result<Option<bool>, StoreError> {
        let Some(owner) = pair.runnable_owner.as_deref() else {
            return Ok(None);
        };
        if event.hops >= HOPS_MAX {
            return Ok(None);
        }
        let to = ListeningSource {
            id: &pair.listener,
            owner,
        };
        let taken = self
            .rooms
            .take(self.connection, event, to, self.now_ms)
            .await?;
        Ok(Some(taken))
    }

    /// Counts a copy, unless the step has reached its bound. A step may always make one, or dispatch would not advance.
    pub(super) fn may_copy(&mut self, bytes: u64) -> bool {
        let copied_bytes = self.copied_bytes + bytes;
        let may = self.copied_bytes == 0 || copied_bytes <= COPIED_BYTES;
        if may {
            self.copied_bytes = copied_bytes;
        }
        may
    }

    /// Reports once per event, on `$errors`, that it goes no further. Events on the platform's own channels end silently.
    async fn report_hop_limit(
        &self,
        event: &Passing,
        partial: &mut Partial,
    ) -> Result<(), StoreError> {
        if partial.told || event.channel.class() != ChannelClass::Ordinary {
            return Ok(());
        }
        partial.told = true;
        let Some((id, data)) = passing::logged(self.connection, event.position).await? else {
            return Ok(());
        };
        let error = event::hop_limit_error(id, &event.channel, &data);
        append::alone(self.connection, &event.emitter, None, &[error], self.now_ms).await
    }
}
