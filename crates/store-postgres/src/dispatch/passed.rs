//! The invocations and deliveries of pairs that a step passes on. Their rows are written together: each table takes one
//! statement, however many there are.

use futures::try_join;
use headwater_model::time::EpochMs;
use headwater_store::{StoreError, Trigger, derived_id};

use super::{pairs::Pair, passing::Passing};
use crate::{
    connection::{Connection, failed},
    queued_events,
    row::{list, name_of, signed},
};

/// Pairs that are passed on, and not written yet.
pub(super) struct Passed {
    now_ms: EpochMs,
    /// Salt of the ids: 0 in dispatch.
    salt: i64,
    invocations: Vec<Queued>,
    deliveries: Vec<Delivery>,
    /// Positions of events, and how many deliveries need the data of each.
    kept: Vec<(i64, u32)>,
}

struct Queued {
    id: String,
    listener: String,
    owner: Option<String>,
    event: i64,
    bytes: u64,
    trigger: Option<String>,
}

struct Delivery {
    id: String,
    webhook: String,
    subscription: String,
    event: i64,
    indexed_at_ms: i64,
    generation: Option<i64>,
}

impl Passed {
    pub(super) fn new(now_ms: EpochMs, salt: i64) -> Self {
        Self {
            now_ms,
            salt,
            invocations: Vec::new(),
            deliveries: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Queues an invocation of the listening source or workflow; a workflow is told by which emitter.
    pub(super) fn enqueue(&mut self, event: &Passing, pair: &Pair) {
        let id = derived_id::invocation(self.now_ms, pair.seed(event, self.salt));
        self.invocations.push(Queued {
            id: id.as_str().to_owned(),
            listener: pair.listener.clone(),
            owner: pair.runnable_owner.clone(),
            event: event.position,
            bytes: event.bytes,
            trigger: pair.trigger.clone(),
        });
    }

    /// Queues a delivery to the listening webhook, for which the event's data is kept.
    pub(super) fn deliver(&mut self, event: &Passing, pair: &Pair) {
        let id = derived_id::delivery(self.now_ms, pair.seed(event, self.salt));
        self.deliveries.push(Delivery {
            id: id.as_str().to_owned(),
            webhook: pair.listener.clone(),
            subscription: pair.subscription_id.clone(),
            event: event.position,
            indexed_at_ms: event.indexed_at_ms,
            generation: pair.webhook_generation,
        });
        match self.kept.last_mut() {
            Some((position, deliveries)) if *position == event.position => *deliveries += 1,
            _ => self.kept.push((event.position, 1)),
        }
    }

    /// Writes what there is so far.
    pub(super) async fn write(&mut self, connection: &Connection) -> Result<(), StoreError> {
        try_join!(
            self.write_invocations(connection),
            self.count_invocations(connection),
            self.write_deliveries(connection),
            self.keep_events(connection),
        )?;
        self.invocations.clear();
        self.deliveries.clear();
        self.kept.clear();
        Ok(())
    }

    async fn write_invocations(&self, connection: &Connection) -> Result<(), StoreError> {
        let rows = &self.invocations[..];
        if rows.is_empty() {
            return Ok(());
        }
        connection
            .execute(
                "INSERT INTO invocations (id, runnable_id, trigger, timer_prop, event, hops, queued_at_ms, owner_id,
                                          traceparent, trigger_id, cause_emitter_id, cause_ms, cause_sequence)
                 SELECT row.id, listener, $6, CASE WHEN starts_with(listener, 'p_') THEN emitter_id END, event, hops + 1,
                        $7, owner, traceparent, row.trigger, emitter_id, ms, sequence
                 FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[]) WITH ORDINALITY
                      AS row (id, listener, owner, at, trigger, number)
                      JOIN events ON position = at
                 ORDER BY number",
                &[
                    &list(rows, |row| &row.id),
                    &list(rows, |row| &row.listener),
                    &list(rows, |row| &row.owner),
                    &list(rows, |row| row.event),
                    &list(rows, |row| &row.trigger),
                    &name_of(&Trigger::Event)?,
                    &signed(self.now_ms),
                ],
            )
            .await
            .map_err(failed("queueing events for their listeners"))
            .map(drop)
    }

    async fn count_invocations(&self, connection: &Connection) -> Result<(), StoreError> {
        let owned = self.invocations.iter();
        let owned = owned.filter_map(|row| Some((row.owner.as_deref()?, signed(row.bytes))));
        queued_events::add(connection, &owned.collect::<Vec<_>>()).await
    }

    async fn write_deliveries(&self, connection: &Connection) -> Result<(), StoreError> {
        let rows = &self.deliveries[..];
        if rows.is_empty() {
            return Ok(());
        }
        connection
            .execute(
                "INSERT INTO deliveries (id, webhook_id, subscription_id, event_position, indexed_at_ms, state,
                                         created_at_ms, generation)
                 SELECT id, webhook, subscription, event, indexed_at_ms, 'pending', $7, generation
                 FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) WITH ORDINALITY
                      AS row (id, webhook, subscription, event, indexed_at_ms, generation, number)
                 ORDER BY number",
                &[
                    &list(rows, |row| &row.id),
                    &list(rows, |row| &row.webhook),
                    &list(rows, |row| &row.subscription),
                    &list(rows, |row| row.event),
                    &list(rows, |row| row.indexed_at_ms),
                    &list(rows, |row| row.generation),
                    &signed(self.now_ms),
                ],
            )
            .await
            .map_err(failed("queueing events for their webhooks"))
            .map(drop)
    }

    /// Stores the data of events for that many more deliveries.
    async fn keep_events(&self, connection: &Connection) -> Result<(), StoreError> {
        let rows = &self.kept[..];
        if rows.is_empty() {
            return Ok(());
        }
        connection
            .execute(
                "INSERT INTO delivered_events AS kept (position, emitter_id, ms, sequence, channel, event, deliveries,
                                                       traceparent)
                 SELECT position, emitter_id, ms, sequence, channel, event, more, traceparent
                 FROM unnest($1::bigint[], $2::bigint[]) AS row (at, more) JOIN events ON position = at
                 ON CONFLICT (position) DO UPDATE SET deliveries = kept.deliveries + excluded.deliveries",
                &[
                    &list(rows, |(position, _)| *position),
                    &list(rows, |(_, deliveries)| signed(*deliveries)),
                ],
            )
            .await
            .map_err(failed("keeping events for their deliveries"))
            .map(drop)
    }
}
