//! Dispatch: from events past the cursor to invocations of the sources and deliveries to the webhooks that subscribe
//! to them.

mod cursor;
mod listeners;
mod pairs;
mod passing;
mod room;

use std::collections::{BTreeSet, VecDeque};

use headwater_model::{
    channel::ChannelClass,
    event,
    id::{RunnableId, WebhookId},
    limits::HOPS_MAX,
    time::EpochMs,
};
use headwater_store::{Progress, StoreError};
use rusqlite::Connection;

use crate::{
    append,
    connection::failed,
    dispatch::{
        cursor::{Cursor, Partial},
        listeners::Listeners,
        passing::Passing,
        room::{ListeningSource, Rooms},
    },
};

/// The most bytes of events' data that a step copies beyond its first pair: a step is one transaction.
const COPIED_BYTES: u64 = 8 * 1024 * 1024;

/// Events that are read at once.
const AHEAD: u32 = 64;

/// Whether dispatch has events to pass.
pub(crate) fn has_events(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "SELECT 1 FROM events WHERE position > (SELECT position FROM dispatch_cursor) LIMIT 1",
        )
        .and_then(|mut statement| statement.exists(()))
        .map_err(failed("looking for events to dispatch"))
}

/// Whether dispatch has events of that emitter to pass.
pub(crate) fn has_events_of(connection: &Connection, emitter: &str) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "SELECT 1 FROM events INDEXED BY events_by_id
             WHERE emitter_id = ? AND position > (SELECT position FROM dispatch_cursor) LIMIT 1",
        )
        .and_then(|mut statement| statement.exists([emitter]))
        .map_err(failed("looking for an emitter's events to dispatch"))
}

/// One bounded step.
struct Step<'a> {
    connection: &'a Connection,
    now_ms: EpochMs,
    passed: u32,
    pairs_left: u32,
    copied_bytes: u64,
    /// Events that were read and are not passed yet.
    ahead: VecDeque<Passing>,
    listeners: Listeners,
    rooms: Rooms,
    woken: BTreeSet<RunnableId>,
    woken_webhooks: BTreeSet<WebhookId>,
}

/// The cursor moves in the same transaction, so that each pair of event and subscription is passed on exactly once.
pub(crate) fn run(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
    queued_max: u32,
) -> Result<Progress, StoreError> {
    let mut step = Step {
        connection,
        now_ms,
        passed: 0,
        pairs_left: limit,
        copied_bytes: 0,
        ahead: VecDeque::new(),
        listeners: Listeners::default(),
        rooms: Rooms::new(queued_max),
        woken: BTreeSet::new(),
        woken_webhooks: BTreeSet::new(),
    };
    let mut cursor = Cursor::read(connection)?;
    let mut more = false;
    while let Some(event) = step.next(cursor.position)? {
        more = step.passed == limit;
        if more {
            break;
        }
        if let Some(partial) = step.pass_on(&event, cursor.partial_of(event.position))? {
            more = true;
            cursor.partial = partial;
            break;
        }
        step.passed += 1;
        cursor = Cursor::behind(event.position);
    }
    cursor.write(connection)?;
    let behind = match more {
        true => events_behind(connection, cursor.position)?,
        false => 0,
    };
    Ok(Progress {
        behind,
        done: u64::from(step.passed),
        more,
        next_due_ms: None,
        woken: step.woken.into_iter().collect(),
        woken_webhooks: step.woken_webhooks.into_iter().collect(),
    })
}

/// Counts positions in the log instead of events, which needs only the last one.
fn events_behind(connection: &Connection, position: i64) -> Result<u64, StoreError> {
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(position) FROM events")
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
        .map_err(failed("looking for events to dispatch"))?;
    Ok(last.map_or(0, |last| last.saturating_sub(position).unsigned_abs()))
}

impl Step<'_> {
    /// The first event after a position.
    fn next(&mut self, position: i64) -> Result<Option<Passing>, StoreError> {
        if self.ahead.is_empty() {
            self.ahead = passing::after(self.connection, position, AHEAD)?.into();
        }
        Ok(self.ahead.pop_front())
    }

    /// Passes an event on to its listeners. `Some`: the point at which the step has to stop.
    fn pass_on(
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
            .of(self.connection, event, owner, after, limit)?;
        let mut is_cut = pairs.len() > self.pairs_left as usize;
        pairs.truncate(self.pairs_left as usize);
        let mut deliveries = 0;
        for pair in &pairs {
            let queued = self.takes_room(event, pair)?;
            // All deliveries of an event share one copy.
            let is_copied = queued == Some(true) || (pair.is_webhook() && deliveries == 0);
            if is_copied && !self.may_copy(event.bytes) {
                is_cut = true;
                break;
            }
            self.pairs_left -= 1;
            partial.subscription = pair.subscription;
            if pair.is_webhook() {
                pairs::deliver(self.connection, event, pair, self.now_ms)?;
                self.woken_webhooks.insert(pair.webhook()?);
                deliveries += 1;
            } else if queued == Some(true) {
                pairs::enqueue(self.connection, event, pair, self.now_ms)?;
                self.woken.insert(pair.runnable()?);
            } else if queued.is_none() && pair.runnable_owner.is_some() {
                self.report_hop_limit(event, &mut partial)?;
            }
        }
        pairs::keep_event(self.connection, event, deliveries)?;
        Ok(is_cut.then_some(partial))
    }

    /// Whether the event is to be queued for a listening source and finds room there; `None` when it is not to be.
    fn takes_room(
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
        let taken = self.rooms.take(self.connection, event, to, self.now_ms)?;
        Ok(Some(taken))
    }

    /// Counts a copy, unless the step has reached its bound. A step may always make one, or dispatch would not advance.
    fn may_copy(&mut self, bytes: u64) -> bool {
        let copied_bytes = self.copied_bytes + bytes;
        let may = self.copied_bytes == 0 || copied_bytes <= COPIED_BYTES;
        if may {
            self.copied_bytes = copied_bytes;
        }
        may
    }

    /// Reports once per event, on `$errors`, that it goes no further. Events on the platform's own channels end silently.
    fn report_hop_limit(&self, event: &Passing, partial: &mut Partial) -> Result<(), StoreError> {
        if partial.told || event.channel.class() != ChannelClass::Ordinary {
            return Ok(());
        }
        partial.told = true;
        let Some((id, data)) = passing::logged(self.connection, event.position)? else {
            return Ok(());
        };
        let error = event::hop_limit_error(id, &event.channel, &data);
        append::alone(self.connection, &event.emitter, None, &[error], self.now_ms)
    }
}
