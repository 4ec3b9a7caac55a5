//! A bounded number of permits for work such as builds or loading code into workers, handed out fairly: waiting tenants
//! take turns, one permit each, so that one tenant's hundred requests do not delay another's first. The work itself is
//! unknown here.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Hands out permits.
#[derive(Debug)]
pub(crate) struct FairQueue {
    state: Arc<Mutex<State>>,
    waiting_max: usize,
}

/// The tenant's queue is full.
#[derive(Debug)]
pub(crate) struct Full;

#[derive(Debug)]
struct State {
    free: usize,
    /// Waiting tenants in the order of their turns. No queue is empty.
    tenants: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    tenant: Arc<str>,
    queue: VecDeque<oneshot::Sender<Permit>>,
}

/// The right to proceed; given back on drop.
#[derive(Debug)]
pub(crate) struct Permit {
    state: Arc<Mutex<State>>,
}

impl FairQueue {
    /// Allows `at_a_time` permits at once, and `waiting_max` waiting requests per tenant.
    pub(crate) fn new(at_a_time: usize, waiting_max: usize) -> Self {
        let state = State {
            free: at_a_time,
            tenants: VecDeque::new(),
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            waiting_max,
        }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// [`Full`] when too many of the tenant's requests wait already.
    pub(crate) async fn acquire(&self, tenant: &str) -> Result<Permit, Full> {
        loop {
            let waiting = {
                let mut state = self.state.lock();
                if state.free > 0 {
                    state.free -= 1;
                    return Ok(self.permit());
                }
                state.wait(tenant, self.waiting_max)?
            };
            if let Ok(permit) = waiting.await {
                return Ok(permit);
            }
        }
    }

    fn permit(&self) -> Permit {
        Permit {
            state: Arc::clone(&self.state),
        }
    }
}

impl State {
    fn wait(
        &mut self,
        tenant: &str,
        waiting_max: usize,
    ) -> Result<oneshot::Receiver<Permit>, Full> {
        let (sender, receiver) = oneshot::channel();
        let mut known = self.tenants.iter_mut();
        let Some(known) = known.find(|known| &*known.tenant == tenant) else {
            self.tenants.push_back(Waiting {
                tenant: tenant.into(),
                queue: VecDeque::from([sender]),
            });
            return Ok(receiver);
        };
        known.queue.retain(|waiting| !waiting.is_closed());
        if known.queue.len() >= waiting_max {
            return Err(Full);
        }
        known.queue.push_back(sender);
        Ok(receiver)
    }

    /// The next waiting request; its tenant moves to the end of the queue.
    fn next(&mut self) -> Option<oneshot::Sender<Permit>> {
        while let Some(mut waiting) = self.tenants.pop_front() {
            let next = waiting.queue.pop_front();
            if !waiting.queue.is_empty() {
                self.tenants.push_back(waiting);
            }
            // Requests abandoned in the meantime get no permit.
            if let Some(next) = next.filter(|next| !next.is_closed()) {
                return Some(next);
            }
        }
        None
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let next = {
            let mut state = self.state.lock();
            let next = state.next();
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        if let Some(next) = next {
            // A permit that nobody receives is dropped here, which passes it on.
            let _ = next.send(Permit {
                state: Arc::clone(&self.state),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::{FairQueue, Full};

    const WAITING_MAX: usize = 32;

    #[tokio::test]
    async fn tenants_take_turns_however_much_each_asks_for() {
        let queue = FairQueue::new(1, WAITING_MAX);
        let running = queue.acquire("many").await.unwrap();
        let asked = ["many", "many", "many", "one", "many", "other"];
        let mut waiting: Vec<_> = asked
            .iter()
            .map(|owner| (*owner, Box::pin(queue.acquire(owner))))
            .collect();
        for (_, permit) in &mut waiting {
            assert!(permit.now_or_never().is_none());
        }
        let mut current = Some(running);
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(current.take());
            let ready = waiting
                .iter_mut()
                .position(|(_, permit)| {
                    current = permit.now_or_never().map(Result::unwrap);
                    current.is_some()
                })
                .expect("somebody's permit");
            order.push(waiting.remove(ready).0);
        }
        assert_eq!(order, ["many", "one", "other", "many", "many", "many"]);
    }

    #[tokio::test]
    async fn those_who_went_away_take_no_turn_and_no_place() {
        let queue = FairQueue::new(1, WAITING_MAX);
        let running = queue.acquire("a").await.unwrap();
        let mut gone = Box::pin(queue.acquire("a"));
        assert!((&mut gone).now_or_never().is_none());
        let mut stays = Box::pin(queue.acquire("a"));
        assert!((&mut stays).now_or_never().is_none());
        drop(gone);
        drop(running);
        let permit = stays.now_or_never().expect("its permit").unwrap();
        drop(permit);
        assert!(queue.acquire("b").now_or_never().is_some());
    }

    #[tokio::test]
    async fn one_tenant_has_so_many_waiting_and_another_still_may() {
        let queue = FairQueue::new(1, WAITING_MAX);
        let _running = queue.acquire("a").await.unwrap();
        let mut waiting: Vec<_> = (0..WAITING_MAX)
            .map(|_| Box::pin(queue.acquire("a")))
            .collect();
        for permit in &mut waiting {
            assert!(permit.now_or_never().is_none());
        }
        let refused = queue.acquire("a").now_or_never().expect("an answer");
        assert!(matches!(refused, Err(Full)), "{refused:?}");
        assert!(queue.acquire("b").now_or_never().is_none());
        waiting.pop();
        assert!(queue.acquire("a").now_or_never().is_none());
    }

    #[tokio::test]
    async fn who_asks_for_many_waits_behind_who_asks_for_one() {
        let queue = FairQueue::new(1, usize::MAX);
        let (many, one) = ("many", "one");
        let first = queue.acquire(many).await.unwrap();
        let mut of_many: Vec<_> = (0..3).map(|_| Box::pin(queue.acquire(many))).collect();
        for waiting in &mut of_many {
            assert!(waiting.now_or_never().is_none());
        }
        let mut other = Box::pin(queue.acquire(one));
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
        assert!(queue.acquire(one).now_or_never().is_some(), "free again");
    }
}
