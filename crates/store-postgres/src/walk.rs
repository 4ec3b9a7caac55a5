//! A walk along several stretches of indexes in the order of ids: each stretch is read ahead a little, and the next row
//! of all is the one with the first id.

use std::collections::{BTreeSet, VecDeque};

use headwater_store::StoreError;

use crate::connection::Connection;

/// Rows that are read of a stretch at once, twice as many each time.
const AHEAD_MAX: usize = 64;

/// The direction of a walk along ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Newest,
    Oldest,
}

impl Direction {
    /// The order of rows in SQL.
    pub(crate) fn order(self) -> &'static str {
        match self {
            Self::Newest => "DESC",
            Self::Oldest => "ASC",
        }
    }
}

/// The stretches of a walk.
pub(crate) trait Arms: Send + Sync {
    /// A row that was looked at.
    type Row: Send;

    /// Its id, by which the rows are ordered.
    fn id(row: &Self::Row) -> &str;

    /// The number of stretches.
    fn count(&self) -> usize;

    /// Up to `limit` rows of a stretch, between two ids.
    fn look(
        &self,
        connection: &Connection,
        place: usize,
        between: (&str, &str),
        direction: Direction,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Self::Row>, StoreError>> + Send;
}

/// A walk along arms.
pub(crate) struct Walk<A: Arms> {
    arms: A,
    direction: Direction,
    after: String,
    before: String,
    readings: Vec<Reading<A::Row>>,
    /// The ids of the arms' next rows; a row may be in several arms.
    next: BTreeSet<(String, usize)>,
}

/// An arm as far as it was read.
struct Reading<R> {
    ahead: VecDeque<R>,
    read_at_once: usize,
}

impl<A: Arms> Walk<A> {
    /// A walk between two ids.
    pub(crate) async fn begin(
        connection: &Connection,
        arms: A,
        direction: Direction,
        (after, before): (&str, &str),
    ) -> Result<Self, StoreError> {
        let count = arms.count();
        let mut walk = Self {
            arms,
            direction,
            after: after.to_owned(),
            before: before.to_owned(),
            readings: Vec::with_capacity(count),
            next: BTreeSet::new(),
        };
        for place in 0..count {
            walk.readings.push(Reading {
                ahead: VecDeque::new(),
                read_at_once: 1,
            });
            walk.read_on(connection, place, None).await?;
        }
        Ok(walk)
    }

    /// The next row of all arms. One that is in several arms comes as often, each time after the other.
    pub(crate) async fn next(
        &mut self,
        connection: &Connection,
    ) -> Result<Option<A::Row>, StoreError> {
        let first = match self.direction {
            Direction::Newest => self.next.pop_last(),
            Direction::Oldest => self.next.pop_first(),
        };
        let Some((id, place)) = first else {
            return Ok(None);
        };
        let looked = self.readings[place].ahead.pop_front();
        self.read_on(connection, place, Some(&id)).await?;
        Ok(looked)
    }

    /// Whether there is nothing left.
    pub(crate) fn is_over(&self) -> bool {
        self.next.is_empty()
    }

    /// Notes the next row of an arm, reading more behind `last` if none was read ahead.
    async fn read_on(
        &mut self,
        connection: &Connection,
        place: usize,
        last: Option<&str>,
    ) -> Result<(), StoreError> {
        let reading = &mut self.readings[place];
        if reading.ahead.is_empty() {
            let between = match (self.direction, last) {
                (_, None) => (&*self.after, &*self.before),
                (Direction::Newest, Some(last)) => (&*self.after, last),
                (Direction::Oldest, Some(last)) => (last, &*self.before),
            };
            let limit = reading.read_at_once;
            let read = self
                .arms
                .look(connection, place, between, self.direction, limit)
                .await?;
            reading.read_at_once = (limit * 2).min(AHEAD_MAX);
            reading.ahead = read.into();
        }
        if let Some(next) = reading.ahead.front() {
            self.next.insert((A::id(next).to_owned(), place));
        }
        Ok(())
    }
}
