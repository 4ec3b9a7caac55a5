//! Searching the kept events of many emitters: each emitter's index leads from its newest event down, and a heap has
//! whose turn it is. An emitter is not read before its last event could be the next one.

mod emitters;
mod rows;

use std::collections::{BinaryHeap, VecDeque};

use async_trait::async_trait;
use headwater_model::{event_search::EventPlace, id::EventId};
use headwater_store::{EventSearch, EventSearches, FoundEvents, StoreError};

use self::{
    emitters::Searched,
    rows::{CHUNK, Rows},
};
use crate::{connection::Connection, store::PostgresStore};

#[async_trait]
impl EventSearches for PostgresStore {
    async fn search_events(&self, search: EventSearch) -> Result<FoundEvents, StoreError> {
        let search = &search;
        self.read(|connection| async move { found(&connection, search).await })
            .await
    }
}

/// The next event of an emitter, or one that it is not behind. The greatest is the next of all.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    id: EventId,
    /// The place of the emitter among all, in the order of their ids.
    emitter: usize,
}

/// The events of an emitter that were read ahead.
struct Ahead {
    /// Newest first: their ids with the positions of their rows.
    events: VecDeque<(EventId, i64)>,
    /// Those that were not read are in front of this id; none: there are no more.
    rest: Option<EventId>,
}

async fn found(connection: &Connection, search: &EventSearch) -> Result<FoundEvents, StoreError> {
    let rows = Rows::of(search);
    let emitters = emitters::of(connection, search).await?;
    let mut found = FoundEvents {
        events: Vec::new(),
        scanned: 0,
        kept_at_most: emitters.iter().map(|emitter| emitter.kept).sum(),
        next: None,
    };
    let (mut turns, mut ahead) = (BinaryHeap::new(), Vec::with_capacity(emitters.len()));
    for (place, emitter) in emitters.iter().enumerate() {
        let rest = search.beginning_of(&emitter.id);
        if emitter.kept > 0 && search.since_ms <= Some(emitter.last.ms) {
            let id = emitter.last.min(rest);
            turns.push(Turn { id, emitter: place });
        }
        ahead.push(Ahead {
            events: VecDeque::new(),
            rest: Some(rest),
        });
    }
    let mut bytes = 0;
    while let Some(turn) = turns.pop() {
        let emitter = &emitters[turn.emitter];
        let events = &mut ahead[turn.emitter];
        if let Some((id, position)) = events.events.pop_front_if(|(id, _)| *id == turn.id) {
            found.scanned += 1;
            let matched = rows.matched(connection, &emitter.id, position).await?;
            bytes += matched.bytes;
            found.events.extend(matched.event);
            if let Some(id) = events.next_id() {
                let emitter = turn.emitter;
                turns.push(Turn { id, emitter });
            }
            let is_full = found.events.len() == search.limit as usize
                || found.scanned >= search.scan.events
                || bytes >= search.scan.bytes;
            if is_full && !turns.is_empty() {
                found.next = Some(EventPlace {
                    id,
                    emitter: emitter.id.clone(),
                });
            }
            if is_full {
                return Ok(found);
            }
        } else {
            events.read(connection, &rows, emitter).await?;
            if let Some(id) = events.next_id() {
                let emitter = turn.emitter;
                turns.push(Turn { id, emitter });
            }
        }
    }
    Ok(found)
}

impl Ahead {
    /// The id of the next event, or one that it is not behind.
    fn next_id(&self) -> Option<EventId> {
        let next = self.events.front().map(|(id, _)| *id);
        next.or(self.rest)
    }

    async fn read(
        &mut self,
        connection: &Connection,
        rows: &Rows<'_>,
        emitter: &Searched,
    ) -> Result<(), StoreError> {
        let Some(rest) = self.rest.take() else {
            return Ok(());
        };
        self.events = rows.below(connection, &emitter.id, rest).await?.into();
        if self.events.len() == CHUNK {
            self.rest = self.events.back().map(|(id, _)| *id);
        }
        Ok(())
    }
}
