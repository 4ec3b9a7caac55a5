//! The registry of one kind of actor: found or started under its lock, left under the same lock, so that nothing is
//! handed to an actor that is gone.

use std::{collections::HashMap, hash::Hash};

use parking_lot::Mutex;

/// The way to an actor.
pub(crate) trait Resident {
    /// Whether the actor still takes anything.
    fn is_alive(&self) -> bool;
}

/// Actors by the id of the thing that they own.
pub(crate) struct Residents<K, H> {
    by_id: Mutex<HashMap<K, H>>,
}

impl<K, H> Default for Residents<K, H> {
    fn default() -> Self {
        Self {
            by_id: Mutex::default(),
        }
    }
}

impl<K: Clone + Eq + Hash, H: Resident> Residents<K, H> {
    /// Their number.
    pub(crate) fn len(&self) -> usize {
        self.by_id.lock().len()
    }

    /// Tells the actor something, starting one if there is none.
    pub(crate) fn tell<T>(
        &self,
        id: &K,
        start: impl FnOnce() -> H,
        tell: impl FnOnce(&H) -> T,
    ) -> T {
        let mut by_id = self.by_id.lock();
        if let Some(resident) = by_id.get(id).filter(|resident| resident.is_alive()) {
            return tell(resident);
        }
        let resident = start();
        let told = tell(&resident);
        by_id.insert(id.clone(), resident);
        told
    }

    /// Looks at the actor, if there is one.
    pub(crate) fn find<T>(&self, id: &K, look: impl FnOnce(&H) -> T) -> Option<T> {
        let by_id = self.by_id.lock();
        let resident = by_id.get(id).filter(|resident| resident.is_alive());
        resident.map(look)
    }

    /// Tells all of them something.
    pub(crate) fn tell_all(&self, tell: impl FnMut(&H)) {
        self.by_id.lock().values().for_each(tell);
    }

    /// Takes an actor out, whatever it is still told.
    pub(crate) fn remove(&self, id: &K) {
        self.by_id.lock().remove(id);
    }

    /// Takes an actor out if it may leave: nobody can tell it anything while it is asked.
    pub(crate) fn leave(&self, id: &K, may_leave: impl FnOnce() -> bool) -> bool {
        let mut by_id = self.by_id.lock();
        let leaves = may_leave();
        if leaves {
            by_id.remove(id);
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    struct Told(mpsc::UnboundedSender<u32>);

    impl Resident for Told {
        fn is_alive(&self) -> bool {
            !self.0.is_closed()
        }
    }

    fn tell(residents: &Residents<u32, Told>, what: u32) -> Option<mpsc::UnboundedReceiver<u32>> {
        let mut started = None;
        let start = || {
            let (sender, receiver) = mpsc::unbounded_channel();
            started = Some(receiver);
            Told(sender)
        };
        residents.tell(&1, start, |told| {
            let _ = told.0.send(what);
        });
        started
    }

    #[test]
    fn an_actor_is_started_once_and_told_everything() {
        let residents = Residents::default();
        let mut first = tell(&residents, 1).unwrap();
        assert!(tell(&residents, 2).is_none());
        assert_eq!([first.try_recv(), first.try_recv()], [Ok(1), Ok(2)]);
    }

    #[test]
    fn an_actor_that_is_told_something_meanwhile_stays() {
        let residents = Residents::default();
        let mut first = tell(&residents, 1).unwrap();
        assert!(!residents.leave(&1, || first.is_empty()));
        assert_eq!(first.try_recv(), Ok(1));
        assert!(residents.leave(&1, || first.is_empty()));
        assert_eq!(residents.len(), 0);
        assert!(tell(&residents, 2).is_some(), "another one begins");
    }

    #[test]
    fn an_actor_that_died_is_replaced() {
        let residents = Residents::default();
        drop(tell(&residents, 1));
        assert!(tell(&residents, 2).is_some());
        assert_eq!(residents.len(), 1);
    }
}
