//! Searching deliveries across webhooks: the arms are walked together in the order of ids, and only so far.

use std::collections::{BTreeMap, VecDeque};

use headwater_model::{
    id::DeliveryId,
    page::{PageRequest, Position},
    webhook::DeliveryState,
};
use headwater_store::{
    CappedCount, DELIVERIES_SEARCHED_MAX, DeliveryCounts, DeliveryFilter, FoundDeliveries,
    StoreError, Viewer,
};
use rusqlite::Connection;

use super::{
    arms::{Arm, Direction, Looked, Scope},
    listing,
};

/// Rows that are read of an arm at once, twice as many each time.
const AHEAD_MAX: usize = 64;

/// A walk along several arms in the order of ids.
pub(super) struct Walk<'a> {
    scope: &'a Scope,
    state: Option<DeliveryState>,
    direction: Direction,
    after: String,
    before: String,
    arms: Vec<Reading>,
    /// The arms by the id of their next row.
    next: BTreeMap<String, usize>,
}

/// An arm as far as it was read.
struct Reading {
    arm: Arm,
    ahead: VecDeque<Looked>,
    read_at_once: usize,
}

impl<'a> Walk<'a> {
    /// A walk between two ids, if they narrow the scope.
    pub(super) fn begin(
        connection: &Connection,
        scope: &'a Scope,
        filter: &DeliveryFilter,
        direction: Direction,
        (after, before): (Option<&str>, Option<&str>),
    ) -> Result<Self, StoreError> {
        let arms = scope.arms(connection, filter, filter.state)?;
        let mut walk = Self {
            scope,
            state: filter.state,
            direction,
            after: after
                .map_or(&*scope.after, |after| after.max(&scope.after))
                .to_owned(),
            before: before
                .map_or(&*scope.before, |before| before.min(&scope.before))
                .to_owned(),
            arms: Vec::with_capacity(arms.len()),
            next: BTreeMap::new(),
        };
        for arm in arms {
            walk.arms.push(Reading {
                arm,
                ahead: VecDeque::new(),
                read_at_once: 1,
            });
            walk.read_on(connection, walk.arms.len() - 1, None)?;
        }
        Ok(walk)
    }

    /// The next delivery of all arms.
    pub(super) fn next(&mut self, connection: &Connection) -> Result<Option<Looked>, StoreError> {
        let first = match self.direction {
            Direction::Newest => self.next.pop_last(),
            Direction::Oldest => self.next.pop_first(),
        };
        let Some((id, place)) = first else {
            return Ok(None);
        };
        let looked = self.arms[place].ahead.pop_front();
        self.read_on(connection, place, Some(&id))?;
        Ok(looked)
    }

    /// Whether there is nothing left.
    pub(super) fn is_over(&self) -> bool {
        self.next.is_empty()
    }

    /// Notes the next row of an arm, reading more behind `last` if none was read ahead.
    fn read_on(
        &mut self,
        connection: &Connection,
        place: usize,
        last: Option<&str>,
    ) -> Result<(), StoreError> {
        let reading = &mut self.arms[place];
        if reading.ahead.is_empty() {
            let bounds = match (self.direction, last) {
                (_, None) => (&*self.after, &*self.before),
                (Direction::Newest, Some(last)) => (&*self.after, last),
                (Direction::Oldest, Some(last)) => (last, &*self.before),
            };
            let (state, limit) = (self.state, reading.read_at_once);
            let arm = &reading.arm;
            let read = self
                .scope
                .look(connection, arm, bounds, state, self.direction, limit)?;
            reading.read_at_once = (limit * 2).min(AHEAD_MAX);
            reading.ahead = read.into();
        }
        if let Some(next) = reading.ahead.front() {
            self.next.insert(next.id.clone(), place);
        }
        Ok(())
    }
}

pub(super) fn find(
    connection: &Connection,
    viewer: &Viewer,
    filter: &DeliveryFilter,
    page: &PageRequest<DeliveryId>,
) -> Result<FoundDeliveries, StoreError> {
    let scope = Scope::of(connection, viewer, filter)?;
    let (direction, bounds) = match &page.position {
        Position::First => (Direction::Newest, (None, None)),
        Position::After(after) => (Direction::Newest, (None, Some(after.as_str()))),
        Position::Before(before) => (Direction::Oldest, (Some(before.as_str()), None)),
    };
    let mut walk = Walk::begin(connection, &scope, filter, direction, bounds)?;
    let (mut found, mut searched) = (Vec::new(), 0);
    let mut searched_to = None;
    while found.len() < page.limit as usize {
        let Some(looked) = walk.next(connection)? else {
            break;
        };
        searched += 1;
        if looked.matches {
            found.push(looked.id.clone());
        }
        if searched == DELIVERIES_SEARCHED_MAX && !walk.is_over() {
            searched_to = Some(listing::id(&looked.id)?);
            break;
        }
    }
    if direction == Direction::Oldest {
        found.reverse();
    }
    let mut items = Vec::with_capacity(found.len());
    for id in &found {
        items.extend(listing::without_headers(connection, id)?);
    }
    Ok(FoundDeliveries { items, searched_to })
}

pub(super) fn count(
    connection: &Connection,
    viewer: &Viewer,
    filter: &DeliveryFilter,
    limit: u32,
) -> Result<DeliveryCounts, StoreError> {
    let scope = Scope::of(connection, viewer, filter)?;
    let count = |state| match filter.state.is_none_or(|wanted| wanted == state) {
        true => count_state(connection, &scope, filter, state, limit),
        false => Ok(CappedCount::default()),
    };
    Ok(DeliveryCounts {
        pending: count(DeliveryState::Pending)?,
        delivered: count(DeliveryState::Delivered)?,
        dead: count(DeliveryState::Dead)?,
        discarded: count(DeliveryState::Discarded)?,
    })
}

/// Counts arm by arm: the order does not matter.
fn count_state(
    connection: &Connection,
    scope: &Scope,
    filter: &DeliveryFilter,
    state: DeliveryState,
    limit: u32,
) -> Result<CappedCount, StoreError> {
    let (mut counted, mut left) = (CappedCount::default(), limit as usize);
    for arm in scope.arms(connection, filter, Some(state))? {
        let bounds = (&*scope.after, &*scope.before);
        // One more than may be looked at shows whether these are all.
        let newest = Direction::Newest;
        let looked = scope.look(connection, &arm, bounds, Some(state), newest, left + 1)?;
        let within = looked.len().min(left);
        let matching = looked[..within].iter().filter(|one| one.matches);
        counted.count += matching.count() as u64;
        if looked.len() > left {
            counted.is_capped = true;
            break;
        }
        left -= within;
    }
    Ok(counted)
}
