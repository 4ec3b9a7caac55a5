//! Group commit: jobs that wait while a transaction is under way share the next one.

use std::{future::Future, sync::Arc, time::Duration};

use headwater_store::StoreError;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

/// The number of jobs beyond which callers wait.
const WAITING: usize = 4096;
/// Jobs of one transaction.
const GROUP: usize = 512;
/// Jobs of a group from which on one that follows at once lingers.
const BUSY: usize = 16;
/// The time for which it does: those that were just answered come back with their next jobs, and two half groups cost the
/// database more than a whole one.
const LINGER: Duration = Duration::from_millis(1);
/// The bytes of jobs that are enough for one transaction.
const GROUP_BYTES: usize = 8 << 20;

struct Waiting<J, A> {
    job: J,
    answer: oneshot::Sender<A>,
}

/// A handle on the task that runs one group of jobs after the other, which ends with it.
pub(crate) struct Group<J, A> {
    waiting: mpsc::Sender<Waiting<J, A>>,
}

impl<J: Send + 'static, A: Send + 'static> Group<J, A> {
    /// `weigh` tells a job's bytes; `run` answers each job of a group, in their order.
    pub(crate) fn start<F>(
        weigh: fn(&J) -> usize,
        run: impl Fn(Arc<[J]>) -> F + Send + 'static,
    ) -> Self
    where
        J: Sync,
        F: Future<Output = Vec<A>> + Send + 'static,
    {
        let (waiting, mut queue) = mpsc::channel::<Waiting<J, A>>(WAITING);
        tokio::spawn(async move {
            let mut busy_until = None;
            while let Some(first) = queue.recv().await {
                if busy_until.is_some_and(|until| Instant::now() < until) && queue.len() < GROUP {
                    tokio::time::sleep(LINGER).await;
                }
                let (jobs, answers) = group(first, &mut queue, weigh);
                let is_busy = jobs.len() >= BUSY;
                // A task of its own: one that panics takes no later group with it. Its callers learn of it from the
                // dropped answers.
                if let Ok(results) = tokio::spawn(run(jobs)).await {
                    for (answer, result) in answers.into_iter().zip(results) {
                        let _ = answer.send(result);
                    }
                }
                busy_until = is_busy.then(|| Instant::now() + LINGER);
            }
        });
        Self { waiting }
    }

    /// Runs a job and waits until it is durable.
    ///
    /// # Errors
    /// `Unavailable` when its group could not be run.
    pub(crate) async fn run(&self, job: J) -> Result<A, StoreError> {
        let (answer, answered) = oneshot::channel();
        let waits = self.waiting.send(Waiting { job, answer }).await;
        waits.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())
    }
}

/// The jobs that wait, as many as one transaction takes.
fn group<J, A>(
    first: Waiting<J, A>,
    queue: &mut mpsc::Receiver<Waiting<J, A>>,
    weigh: fn(&J) -> usize,
) -> (Arc<[J]>, Vec<oneshot::Sender<A>>) {
    let mut bytes = weigh(&first.job);
    let (mut jobs, mut answers) = (vec![first.job], vec![first.answer]);
    while jobs.len() < GROUP && bytes < GROUP_BYTES {
        let Ok(Waiting { job, answer }) = queue.try_recv() else {
            break;
        };
        bytes += weigh(&job);
        jobs.push(job);
        answers.push(answer);
    }
    (jobs.into(), answers)
}

fn gone() -> StoreError {
    StoreError::unavailable(
        "reaching the store's writer",
        std::io::Error::from(std::io::ErrorKind::BrokenPipe),
    )
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use parking_lot::Mutex;

    use super::*;

    /// The time that a group takes.
    const TAKES: Duration = Duration::from_millis(5);

    /// The sizes of groups, in their order.
    type Sizes = Arc<Mutex<Vec<usize>>>;

    /// Groups of jobs that are nothing but a number.
    fn groups() -> (Group<usize, usize>, Sizes) {
        let sizes = Sizes::default();
        let noted = Arc::clone(&sizes);
        let run = move |jobs: Arc<[usize]>| {
            noted.lock().push(jobs.len());
            async move {
                tokio::time::sleep(TAKES).await;
                jobs.to_vec()
            }
        };
        (Group::start(|_| 0, run), sizes)
    }

    /// So many callers, each of which has two jobs, one after the other: every other one comes back a little later.
    async fn come_twice(group: &Group<usize, usize>, callers: usize) {
        let calls = (0..callers).map(async |caller| {
            assert_eq!(group.run(caller).await.unwrap(), caller);
            if caller % 2 == 0 {
                tokio::task::yield_now().await;
            }
            assert_eq!(group.run(caller).await.unwrap(), caller);
        });
        join_all(calls).await;
    }

    #[tokio::test(start_paused = true)]
    async fn those_that_come_back_from_a_busy_group_are_one_group_again() {
        let (group, sizes) = groups();
        come_twice(&group, BUSY).await;
        assert_eq!(*sizes.lock(), [BUSY, BUSY]);
    }

    #[tokio::test(start_paused = true)]
    async fn few_wait_for_nobody() {
        let (group, sizes) = groups();
        let begun = Instant::now();
        come_twice(&group, 2).await;
        assert_eq!(*sizes.lock(), [2, 1, 1]);
        assert_eq!(begun.elapsed(), 3 * TAKES);
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_long_after_a_busy_group_waits_for_nobody() {
        let (group, _) = groups();
        come_twice(&group, BUSY).await;
        tokio::time::sleep(2 * LINGER).await;
        let begun = Instant::now();
        group.run(0).await.unwrap();
        assert_eq!(begun.elapsed(), TAKES);
    }
}
