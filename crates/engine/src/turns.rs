//! Turns at something that is done a few at a time: builds, giving workers their code. Tenants that wait take turns, one
//! each, so that nobody's hundred keep another's first one waiting. Knows nothing of what is done.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Hands out turns.
#[derive(Debug)]
pub(crate) struct Turns {
    state: Arc<Mutex<State>>,
    waiting_max: usize,
}

/// A tenant has as many waiting as it may.
#[derive(Debug)]
pub(crate) struct Full;

#[derive(Debug)]
struct State {
    free: usize,
    /// Tenants that wait, whose turn is next first. No queue is empty.
    tenants: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    tenant: Arc<str>,
    queue: VecDeque<oneshot::Sender<Turn>>,
}

/// The right to go on, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    state: Arc<Mutex<State>>,
}

impl Turns {
    /// So many at a time, and of one tenant so many that wait.
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

    /// Waits for the tenant's turn.
    ///
    /// # Errors
    /// [`Full`] when too many of its wait already.
    pub(crate) async fn take(&self, tenant: &str) -> Result<Turn, Full> {
        loop {
            let waiting = {
                let mut state = self.state.lock();
                if state.free > 0 {
                    state.free -= 1;
                    return Ok(self.turn());
                }
                state.wait(tenant, self.waiting_max)?
            };
            if let Ok(turn) = waiting.await {
                return Ok(turn);
            }
        }
    }

    fn turn(&self) -> Turn {
        Turn {
            state: Arc::clone(&self.state),
        }
    }
}

impl State {
    fn wait(&mut self, tenant: &str, waiting_max: usize) -> Result<oneshot::Receiver<Turn>, Full> {
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

    /// The next that waits; its tenant goes to the end of the line.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        while let Some(mut waiting) = self.tenants.pop_front() {
            let next = waiting.queue.pop_front();
            if !waiting.queue.is_empty() {
                self.tenants.push_back(waiting);
            }
            // Those who went away in the meantime take no turn.
            if let Some(next) = next.filter(|next| !next.is_closed()) {
                return Some(next);
            }
        }
        None
    }
}

impl Drop for Turn {
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
            // One that nobody receives is dropped here, and passed on by that.
            let _ = next.send(Turn {
                state: Arc::clone(&self.state),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::{Full, Turns};

    const WAITING_MAX: usize = 32;

    #[tokio::test]
    async fn tenants_take_turns_however_much_each_asks_for() {
        let turns = Turns::new(1, WAITING_MAX);
        let running = turns.take("many").await.unwrap();
        let asked = ["many", "many", "many", "one", "many", "other"];
        let mut waiting: Vec<_> = asked
            .iter()
            .map(|owner| (*owner, Box::pin(turns.take(owner))))
            .collect();
        for (_, turn) in &mut waiting {
            assert!(turn.now_or_never().is_none());
        }
        let mut current = Some(running);
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(current.take());
            let ready = waiting
                .iter_mut()
                .position(|(_, turn)| {
                    current = turn.now_or_never().map(Result::unwrap);
                    current.is_some()
                })
                .expect("somebody's turn");
            order.push(waiting.remove(ready).0);
        }
        assert_eq!(order, ["many", "one", "other", "many", "many", "many"]);
    }

    #[tokio::test]
    async fn those_who_went_away_take_no_turn_and_no_place() {
        let turns = Turns::new(1, WAITING_MAX);
        let running = turns.take("a").await.unwrap();
        let mut gone = Box::pin(turns.take("a"));
        assert!((&mut gone).now_or_never().is_none());
        let mut stays = Box::pin(turns.take("a"));
        assert!((&mut stays).now_or_never().is_none());
        drop(gone);
        drop(running);
        let turn = stays.now_or_never().expect("its turn").unwrap();
        drop(turn);
        assert!(turns.take("b").now_or_never().is_some());
    }

    #[tokio::test]
    async fn one_tenant_has_so_many_waiting_and_another_still_may() {
        let turns = Turns::new(1, WAITING_MAX);
        let _running = turns.take("a").await.unwrap();
        let mut waiting: Vec<_> = (0..WAITING_MAX)
            .map(|_| Box::pin(turns.take("a")))
            .collect();
        for turn in &mut waiting {
            assert!(turn.now_or_never().is_none());
        }
        let refused = turns.take("a").now_or_never().expect("an answer");
        assert!(matches!(refused, Err(Full)), "{refused:?}");
        assert!(turns.take("b").now_or_never().is_none());
        waiting.pop();
        assert!(turns.take("a").now_or_never().is_none());
    }

    #[tokio::test]
    async fn who_asks_for_many_waits_behind_who_asks_for_one() {
        let turns = Turns::new(1, usize::MAX);
        let (many, one) = ("many", "one");
        let first = turns.take(many).await.unwrap();
        let mut of_many: Vec<_> = (0..3).map(|_| Box::pin(turns.take(many))).collect();
        for waiting in &mut of_many {
            assert!(waiting.now_or_never().is_none());
        }
        let mut other = Box::pin(turns.take(one));
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
        assert!(turns.take(one).now_or_never().is_some(), "free again");
    }
}
