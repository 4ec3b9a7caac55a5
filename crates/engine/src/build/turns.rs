//! The order of builds. A few run at a time; owners that wait take turns, one build each, so that nobody's
//! hundred builds keep another's first one waiting, and nobody's wait without a bound. Knows no build.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::api::EngineError;

/// Builds of one owner that may wait.
const WAITING_MAX: usize = 32;

/// Hands out turns.
#[derive(Debug)]
pub(super) struct Turns {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Owners that wait, whose turn is next first. No queue is empty.
    owners: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    owner: String,
    queue: VecDeque<oneshot::Sender<Turn>>,
}

/// The right to build, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    state: Arc<Mutex<State>>,
}

impl Turns {
    /// So many builds at a time.
    pub(super) fn new(at_a_time: usize) -> Self {
        let state = State {
            free: at_a_time,
            owners: VecDeque::new(),
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Waits for the owner's turn.
    ///
    /// # Errors
    /// [`EngineError::Busy`] when too many of its builds wait already.
    pub(super) async fn take(&self, owner: &str) -> Result<Turn, EngineError> {
        let waiting = {
            let mut state = self.state.lock();
            if state.free > 0 {
                state.free -= 1;
                return Ok(self.turn());
            }
            state.wait(owner)?
        };
        let closed = |_| EngineError::WorkerLost("the builder is closed".into());
        waiting.await.map_err(closed)
    }

    fn turn(&self) -> Turn {
        Turn {
            state: Arc::clone(&self.state),
        }
    }
}

impl State {
    fn wait(&mut self, owner: &str) -> Result<oneshot::Receiver<Turn>, EngineError> {
        let (sender, receiver) = oneshot::channel();
        let Some(known) = self.owners.iter_mut().find(|known| known.owner == owner) else {
            self.owners.push_back(Waiting {
                owner: owner.to_owned(),
                queue: VecDeque::from([sender]),
            });
            return Ok(receiver);
        };
        known.queue.retain(|waiting| !waiting.is_closed());
        if known.queue.len() >= WAITING_MAX {
            return Err(EngineError::Busy(format!(
                "{WAITING_MAX} components of yours wait to be built, which is as many as may; try again when some are"
            )));
        }
        known.queue.push_back(sender);
        Ok(receiver)
    }

    /// Whoever is next; its owner goes to the end of the line.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        while let Some(mut waiting) = self.owners.pop_front() {
            let next = waiting.queue.pop_front();
            if !waiting.queue.is_empty() {
                self.owners.push_back(waiting);
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

    use super::{EngineError, Turns, WAITING_MAX};

    #[tokio::test]
    async fn owners_take_turns_however_much_each_asks_for() {
        let turns = Turns::new(1);
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
        let turns = Turns::new(1);
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
    async fn one_owner_has_so_many_waiting_and_another_still_may() {
        let turns = Turns::new(1);
        let _running = turns.take("a").await.unwrap();
        let mut waiting: Vec<_> = (0..WAITING_MAX)
            .map(|_| Box::pin(turns.take("a")))
            .collect();
        for turn in &mut waiting {
            assert!(turn.now_or_never().is_none());
        }
        let refused = turns.take("a").now_or_never().expect("an answer");
        assert!(matches!(refused, Err(EngineError::Busy(_))), "{refused:?}");
        assert!(turns.take("b").now_or_never().is_none());
        waiting.pop();
        assert!(turns.take("a").now_or_never().is_none());
    }
}
