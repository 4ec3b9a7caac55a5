//! Searching deliveries across webhooks: the arms are walked together in the order of ids, and only so far.

use headwater_model::{
    id::DeliveryId,
    page::{PageRequest, Position},
    webhook::DeliveryState,
};
use headwater_store::{
    CappedCount, DeliveryCounts, DeliveryFilter, FoundDeliveries, StoreError, Viewer,
};
use rusqlite::Connection;

use super::{
    arms::{Arm, Looked, Scope},
    listing,
    reading::Reading,
};
use crate::walk::{Arms, Direction, Walk};

/// The arms of a filter's deliveries, as a walk has them.
pub(super) struct WalkedArms<'a> {
    scope: &'a Scope,
    states: Vec<DeliveryState>,
    arms: Vec<Arm>,
}

impl Arms for WalkedArms<'_> {
    type Row = Looked;

    fn id(row: &Looked) -> &str {
        &row.id
    }

    fn count(&self) -> usize {
        self.arms.len()
    }

    fn look(
        &self,
        connection: &Connection,
        place: usize,
        between: (&str, &str),
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Looked>, StoreError> {
        let arm = &self.arms[place];
        self.scope
            .look(connection, arm, between, &self.states, direction, limit)
    }
}

/// A walk along a filter's deliveries between two ids, if they narrow the scope.
pub(super) fn walk<'a>(
    connection: &Connection,
    scope: &'a Scope,
    filter: &DeliveryFilter,
    direction: Direction,
    (after, before): (Option<&str>, Option<&str>),
) -> Result<Walk<WalkedArms<'a>>, StoreError> {
    let states = filter.wanted_states();
    let arms = WalkedArms {
        scope,
        arms: scope.arms(connection, filter, &states)?,
        states,
    };
    let after = after.map_or(&*scope.after, |after| after.max(&scope.after));
    let before = before.map_or(&*scope.before, |before| before.min(&scope.before));
    Walk::begin(connection, arms, direction, (after, before))
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
    let mut walk = walk(connection, &scope, filter, direction, bounds)?;
    let mut reading = Reading::of(filter);
    let (mut found, mut searched) = (Vec::new(), 0);
    let mut searched_to = None;
    while found.len() < page.limit as usize {
        let Some(looked) = walk.next(connection)? else {
            break;
        };
        searched += 1;
        if reading.finds(connection, &looked)? {
            found.push(looked.id.clone());
        }
        let is_enough = searched == filter.searched_max() || reading.is_over();
        if is_enough && !walk.is_over() {
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
    let (wanted, limit) = (filter.wanted_states(), limit.min(filter.searched_max()));
    let count = |state| match wanted.contains(&state) {
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
    let mut reading = Reading::of(filter);
    let (mut counted, mut left) = (CappedCount::default(), limit as usize);
    for arm in scope.arms(connection, filter, &[state])? {
        let bounds = (&*scope.after, &*scope.before);
        // One more than may be looked at shows whether these are all.
        let newest = Direction::Newest;
        let looked = scope.look(connection, &arm, bounds, &[state], newest, left + 1)?;
        let within = looked.len().min(left);
        for one in &looked[..within] {
            counted.count += u64::from(reading.finds(connection, one)?);
            if reading.is_over() {
                counted.is_capped = true;
                return Ok(counted);
            }
        }
        if looked.len() > left {
            counted.is_capped = true;
            break;
        }
        left -= within;
    }
    Ok(counted)
}
