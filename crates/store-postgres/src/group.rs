//! Group commit: jobs that wait while a transaction is under way share the next one.

use std::{future::Future, sync::Arc};

use headwater_store::StoreError;
use tokio::sync::{mpsc, oneshot};

/// The number of jobs beyond which callers wait.
const WAITING: usize = 4096;
/// Jobs of one transaction.
const GROUP: usize = 512;
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
            while let Some(first) = queue.recv().await {
                let (jobs, answers) = group(first, &mut queue, weigh);
                // A task of its own: one that panics takes no later group with it. Its callers learn of it from the
                // dropped answers.
                if let Ok(results) = tokio::spawn(run(jobs)).await {
                    for (answer, result) in answers.into_iter().zip(results) {
                        let _ = answer.send(result);
                    }
                }
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
