//! The items of a loop that are under way, so that a walk passes over those that have ended.

use std::collections::{BTreeMap, BTreeSet};

use super::place::Place;
use crate::path::Path;

/// The items of a loop. All before the next one have begun, and have ended unless they are open.
#[derive(Debug, Clone)]
pub(super) struct Items {
    /// Items that have begun and not ended.
    pub(super) open: BTreeSet<u32>,
    /// The first that has not begun.
    pub(super) next: u32,
}

impl Items {
    /// The items as the places have them. A walk finds those among the open ones that have ended.
    pub(super) fn of(path: &Path, count: u32, places: &BTreeMap<Path, Place>) -> Self {
        let has_begun = |index: &u32| {
            let item = path.at(*index);
            let mut places = places.range(item.clone()..);
            let first = places.next();
            first.is_some_and(|(found, _)| found.is_within(&item))
        };
        let next = (0..count).find(|index| !has_begun(index)).unwrap_or(count);
        Self {
            open: (0..next).collect(),
            next,
        }
    }
}
