//! The registry of one kind of actor: actors are found, started and removed under one lock, so that no message goes to
//! an actor that is gone.

use std::{collections::HashMap, hash::Hash};

use parking_lot::Mutex;

/// A handle on an actor.
pub(crate) trait Resident {
    /// Whether the actor still takes messages.
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

    /// Calls `act` with the actor, starting one if there is none.
    pub(crate) fn with<T>(
        &self,
        id: &K,
        start: impl FnOnce() -> H,
        act: impl FnOnce(&H) -> T,
    ) -> T {
        let mut by_id = self.by_id.lock();
        if let Some(resident) = by_id.get(id).filter(|resident| resident.is_alive()) {
            return act(resident);
        }
        let resident = start();
        let result = act(&resident);
        by_id.insert(id.clone(), resident);
        result
    }

    /// Calls `look` with the actor, if there is one.
    pub(crate) fn find<T>(&self, id: &K, look: impl FnOnce(&H) -> T) -> Option<T> {
        let by_id = self.by_id.lock();
        let resident = by_id.get(id).filter(|resident| resident.is_alive());
        resident.map(look)
    }

    /// Calls `act` with each of them.
    pub(crate) fn for_each(&self, act: impl FnMut(&H)) {
        self.by_id.lock().values().for_each(act);
    }

    /// Removes an actor, even if messages for it are still queued.
    pub(crate) fn remove(&self, id: &K) {
        self.by_id.lock().remove(id);
    }

    /// Removes an actor if it may be removed: no message can reach it while that is decided.
    pub(crate) fn remove_if(&self, id: &K, may_remove: impl FnOnce() -> bool) -> bool {
        let mut by_id = self.by_id.lock();
        let removes = may_remove();
        if removes {
            by_id.remove(id);
        }
        removes
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    struct Handle(mpsc::UnboundedSender<u32>);

    impl Resident for Handle {
        fn is_alive(&self) -> bool {
            !self.0.is_closed()
        }
    }

    fn send(
        residents: &Residents<u32, Handle>,
        message: u32,
    ) -> Option<mpsc::UnboundedReceiver<u32>> {
        let mut started = None;
        let start = || {
            let (sender, receiver) = mpsc::unbounded_channel();
            started = Some(receiver);
            Handle(sender)
        };
        residents.with(&1, start, |handle| {
            let _ = handle.0.send(message);
        });
        started
    }

    #[test]
    fn an_actor_is_started_once_and_receives_every_message() {
        let residents = Residents::default();
        let mut first = send(&residents, 1).unwrap();
        assert!(send(&residents, 2).is_none());
        assert_eq!([first.try_recv(), first.try_recv()], [Ok(1), Ok(2)]);
    }

    #[test]
    fn an_actor_that_is_sent_a_message_meanwhile_stays() {
        let residents = Residents::default();
        let mut first = send(&residents, 1).unwrap();
        assert!(!residents.remove_if(&1, || first.is_empty()));
        assert_eq!(first.try_recv(), Ok(1));
        assert!(residents.remove_if(&1, || first.is_empty()));
        assert_eq!(residents.len(), 0);
        assert!(send(&residents, 2).is_some(), "another one begins");
    }

    #[test]
    fn an_actor_that_died_is_replaced() {
        let residents = Residents::default();
        drop(send(&residents, 1));
        assert!(send(&residents, 2).is_some());
        assert_eq!(residents.len(), 1);
    }
}
