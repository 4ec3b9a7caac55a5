//! Turns of tenants at getting workers: who asks for many waits behind who asks for one.
//!
//! Responsible for: how many workers get their code at a time, and in which order. Not for how many a tenant may have
//! (`shares.rs`).

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::oneshot;

type Waiting = VecDeque<oneshot::Sender<Turn>>;

/// The turns of all tenants.
pub(super) struct Turns(Mutex<State>);

struct State {
    free: usize,
    waiting: HashMap<Arc<str>, Waiting>,
    /// Tenants of whom somebody waits, in turn.
    order: VecDeque<Arc<str>>,
}

/// The right to be made ready; goes to the next in turn when dropped.
pub(super) struct Turn(Option<Arc<Turns>>);

impl Turns {
    /// So many at a time.
    pub(super) fn new(at_a_time: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            free: at_a_time.max(1),
            waiting: HashMap::new(),
            order: VecDeque::new(),
        })))
    }

    /// Waits for the tenant's turn.
    pub(super) async fn take(self: &Arc<Self>, tenant: &Arc<str>) -> Turn {
        loop {
            let waiting = {
                let mut state = self.0.lock();
                if state.free > 0 {
                    state.free -= 1;
                    return Turn(Some(Arc::clone(self)));
                }
                state.wait(tenant)
            };
            // Whoever gives a turn away keeps it if nobody takes it.
            if let Ok(turn) = waiting.await {
                return turn;
            }
        }
    }

    /// Gives the turn to the next who still waits for one.
    fn pass_on(self: Arc<Self>) {
        loop {
            let next = {
                let mut state = self.0.lock();
                let next = state.next();
                if next.is_none() {
                    state.free += 1;
                }
                next
            };
            let Some(next) = next else { return };
            match next.send(Turn(Some(Arc::clone(&self)))) {
                Ok(()) => return,
                // Gave up waiting: the next one's then.
                Err(mut refused) => refused.0 = None,
            }
        }
    }
}

impl State {
    fn wait(&mut self, tenant: &Arc<str>) -> oneshot::Receiver<Turn> {
        let (sender, waiting) = oneshot::channel();
        let of_tenant = self.waiting.entry(Arc::clone(tenant)).or_default();
        if of_tenant.is_empty() {
            self.order.push_back(Arc::clone(tenant));
        }
        of_tenant.push_back(sender);
        waiting
    }

    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        let tenant = self.order.pop_front()?;
        let of_tenant = self.waiting.get_mut(&tenant)?;
        let next = of_tenant.pop_front();
        match of_tenant.is_empty() {
            true => drop(self.waiting.remove(&tenant)),
            false => self.order.push_back(tenant),
        }
        next
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(turns) = self.0.take() {
            turns.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn who_asks_for_many_waits_behind_who_asks_for_one() {
        let turns = Turns::new(1);
        let (many, one): (Arc<str>, Arc<str>) = ("many".into(), "one".into());
        let first = turns.take(&many).await;
        let mut of_many: Vec<_> = (0..3).map(|_| Box::pin(turns.take(&many))).collect();
        for waiting in &mut of_many {
            assert!(waiting.now_or_never().is_none());
        }
        let mut other = Box::pin(turns.take(&one));
        assert!((&mut other).now_or_never().is_none());
        drop(first);
        let second = (&mut of_many[0]).now_or_never().expect("it waited first");
        assert!((&mut other).now_or_never().is_none());
        drop(second);
        let third = other.now_or_never().expect("its tenant's turn");
        assert!((&mut of_many[1]).now_or_never().is_none());
        // One that goes away is passed over.
        drop(of_many.remove(1));
        drop(third);
        assert!((&mut of_many[1]).now_or_never().is_some());
        assert!(turns.take(&one).now_or_never().is_some(), "free again");
    }
}
