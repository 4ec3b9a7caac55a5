//! Passing one event of the log on once more, by hand: to whom dispatch would pass it if it came now.

use headwater_model::{channel::ChannelClass, limits::HOPS_MAX};
use headwater_store::{EventListeners, EventReplay, StoreError};

use super::{
    pairs::{self, Pair},
    passed::Passed,
    passing::{self, Passing},
    room::{ListeningSource, Rooms},
};
use crate::{
    connection::{Connection, failed},
    deliveries, waiting_runs,
};

/// One step: all listeners of the event share a transaction.
pub(crate) async fn run(
    connection: &Connection,
    replay: &EventReplay,
) -> Result<Option<EventListeners>, StoreError> {
    let Some(event) = passing::of(connection, &replay.event).await? else {
        return Ok(None);
    };
    let Some(owner) = event.owner.clone() else {
        return Ok(None);
    };
    let mut listeners = EventListeners::default();
    if event.channel.class() == ChannelClass::Scheduled {
        return Ok(Some(listeners));
    }
    // Subscriptions of whatever time, and one more than is looked at.
    let limit = replay.limit.saturating_add(1);
    let mut pairs = pairs::of(connection, &event, &owner, i64::MAX, 0, limit).await?;
    listeners.has_more = pairs.len() > replay.limit as usize;
    pairs.truncate(replay.limit as usize);
    let mut again = Again {
        connection,
        rooms: Rooms::new(replay.queued_max),
        passed: Passed::new(replay.now_ms, replay.salt),
        event: &event,
        replay,
    };
    for pair in &pairs {
        let listener = pair.listener_id()?;
        if listeners.passes_over(&listener, replay) || again.is_there(pair).await? {
            continue;
        }
        match again.reaches(pair).await? {
            true => listeners.reached.push(listener),
            false => listeners.left_out.push(listener),
        }
    }
    again.passed.write(connection).await?;
    Ok(Some(listeners))
}

struct Again<'a> {
    connection: &'a Connection,
    rooms: Rooms,
    passed: Passed,
    event: &'a Passing,
    replay: &'a EventReplay,
}

impl Again<'_> {
    /// Whether a webhook's delivery of the event is there already, where only those that missed it are wanted.
    async fn is_there(&self, pair: &Pair) -> Result<bool, StoreError> {
        if !self.replay.missed_only || pair.webhook_generation.is_none() {
            return Ok(false);
        }
        let found = delivery_of(self.connection, pair, self.event.position).await?;
        Ok(found.is_some())
    }

    /// Passes the event on to a listener, if that takes it now.
    async fn reaches(&mut self, pair: &Pair) -> Result<bool, StoreError> {
        let (event, replay) = (self.event, self.replay);
        if let Some(generation) = pair.webhook_generation {
            if !replay.is_dry {
                self.deliver(pair, generation).await?;
            }
            return Ok(true);
        }
        let Some(owner) = pair.runnable_owner.as_deref() else {
            return Ok(false);
        };
        let has_room = event.hops < HOPS_MAX
            && self.rooms.is_free(self.connection, owner).await?
            && (!pair.is_workflow()
                || waiting_runs::has_room(self.connection, &pair.listener).await?);
        if has_room && !replay.is_dry {
            let to = ListeningSource {
                id: &pair.listener,
                owner,
            };
            self.rooms
                .take(self.connection, event, to, replay.now_ms)
                .await?;
            self.passed.enqueue(event, pair);
        }
        Ok(has_room)
    }

    /// Makes the webhook's delivery of the event anew, or a first one.
    async fn deliver(&mut self, pair: &Pair, generation: i64) -> Result<(), StoreError> {
        let now_ms = self.replay.now_ms;
        match delivery_of(self.connection, pair, self.event.position).await? {
            Some(id) => deliveries::again::make_due(self.connection, &id, generation, now_ms).await,
            None => {
                self.passed.deliver(self.event, pair);
                Ok(())
            }
        }
    }
}

async fn delivery_of(
    connection: &Connection,
    pair: &Pair,
    position: i64,
) -> Result<Option<String>, StoreError> {
    connection
        .value_opt(
            "SELECT id FROM deliveries WHERE event_position = $1 AND webhook_id = $2 ORDER BY id LIMIT 1",
            &[&position, &pair.listener],
        )
        .await
        .map_err(failed("looking for an event's delivery"))
}
