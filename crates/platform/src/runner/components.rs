//! The components of loaded sources: one record in memory however many sources run it.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use headwater_model::id::ComponentId;
use headwater_store::SavedComponent;
use parking_lot::Mutex;

/// Entries kept at least before those that nobody holds are removed.
const SWEPT_FROM: usize = 64;

/// The components that runners hold. A saved component never changes.
#[derive(Default)]
pub(crate) struct LoadedComponents {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    by_id: HashMap<ComponentId, Weak<SavedComponent>>,
    /// Entries after the last time that unused ones were removed.
    after_sweep: usize,
}

impl LoadedComponents {
    /// The component, if a runner holds it.
    pub(super) fn get(&self, id: &ComponentId) -> Option<Arc<SavedComponent>> {
        self.state.lock().by_id.get(id)?.upgrade()
    }

    /// The component as runners hold it, from now on if none did.
    pub(super) fn shared(&self, component: SavedComponent) -> Arc<SavedComponent> {
        let mut state = self.state.lock();
        let State { by_id, after_sweep } = &mut *state;
        if let Some(held) = by_id.get(&component.id).and_then(Weak::upgrade) {
            return held;
        }
        if by_id.len() >= SWEPT_FROM.max(2 * *after_sweep) {
            by_id.retain(|_, held| held.strong_count() > 0);
            *after_sweep = by_id.len();
        }
        let id = component.id.clone();
        let component = Arc::new(component);
        by_id.insert(id, Arc::downgrade(&component));
        component
    }
}
