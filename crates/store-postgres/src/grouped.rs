//! The steps that share transactions: invocations that are queued, and the commits of runs.

use std::sync::Arc;

use headwater_model::id::RunnableId;
use headwater_store::{AfterRun, NewInvocation, RunCommit, RunProgress, StoreError};

use crate::{
    connection::Connection,
    database::{Database, Transaction},
    enqueue::{self, Queued, QueuedResult},
    group::Group,
    run_commit::{self, Order},
};

type CommitResults = Vec<Result<(), StoreError>>;

/// The groups, each of which has one transaction under way at a time.
pub(crate) struct Grouped {
    database: Arc<Database>,
    queued: Group<Arc<Queued>, Option<QueuedResult>>,
    of_sources: Group<Arc<[RunCommit]>, CommitResults>,
    of_workflows: Group<Arc<[RunCommit]>, CommitResults>,
}

impl Grouped {
    pub(crate) fn start(database: &Arc<Database>) -> Self {
        let queueing = Arc::clone(database);
        Self {
            database: Arc::clone(database),
            queued: Group::start(
                |job: &Arc<Queued>| bytes_of(&job.0),
                move |jobs| queue(Arc::clone(&queueing), jobs),
            ),
            of_sources: commits(database, Transaction::LockingInTurn),
            // Runs of workflows depend on each other: on answers to their waits, and on what they call.
            of_workflows: commits(database, Transaction::Committing),
        }
    }

    /// Queues an invocation, leased if the lease is the current one and it is due.
    pub(crate) async fn enqueue(&self, job: Queued) -> QueuedResult {
        let job = Arc::new(job);
        match self.queued.run(Arc::clone(&job)).await? {
            Some(queued) => queued,
            None => queue_alone(&self.database, &job).await,
        }
    }

    /// Commits runs; one result of each.
    pub(crate) async fn commit(&self, commits: Arc<[RunCommit]>) -> CommitResults {
        let count = commits.len();
        let are_of_sources = commits.iter().all(|commit| match commit.runnable() {
            RunnableId::Source(_) => true,
            RunnableId::Workflow(_) => false,
        });
        let group = match are_of_sources {
            true => &self.of_sources,
            false => &self.of_workflows,
        };
        let committed = group.run(commits).await;
        committed.unwrap_or_else(|error| of_each(count, &error))
    }
}

/// A group of commits that share such a transaction.
fn commits(
    database: &Arc<Database>,
    transaction: Transaction,
) -> Group<Arc<[RunCommit]>, CommitResults> {
    let database = Arc::clone(database);
    Group::start(
        |commits: &Arc<[RunCommit]>| commits.iter().map(bytes).sum(),
        move |jobs| commit(Arc::clone(&database), transaction, jobs),
    )
}

fn bytes(commit: &RunCommit) -> usize {
    let state = commit.invocation.as_ref().map_or(0, |end| match &end.then {
        AfterRun::Ended => 0,
        AfterRun::GoesOn { state } | AfterRun::Checkpoint { state, .. } => state.get().len(),
    });
    let events = commit.events.iter().map(|event| event.event.get().len());
    let values = commit.kv_writes.iter();
    let values = values.filter_map(|write| Some(write.value.as_ref()?.get().len()));
    let progress = commit.progress.as_ref().map_or(0, bytes_of_progress);
    state + events.sum::<usize>() + values.sum::<usize>() + progress
}

fn bytes_of_progress(progress: &RunProgress) -> usize {
    let places = progress.places.iter().map(|place| place.body.get().len());
    let blobs = progress.blobs.iter().map(|blob| blob.bytes.len());
    let sends = progress.sends.iter().map(|send| send.value.get().len());
    let answers = progress.resolves.iter();
    let answers = answers.map(|answer| answer.resolution.get().len());
    let calls = progress.calls.iter().map(bytes_of);
    let details = progress.details.as_ref().map(|details| details.get().len());
    let parts = places.chain(blobs).chain(sends).chain(answers);
    parts.chain(calls).chain(details).sum()
}

fn bytes_of(invocation: &NewInvocation) -> usize {
    let state = invocation.state.as_ref();
    invocation.event.get().len() + state.map_or(0, |state| state.get().len())
}

/// The error for each of so many.
fn of_each<T>(count: usize, error: &StoreError) -> Vec<Result<T, StoreError>> {
    let message = error.to_string();
    let each = || StoreError::unavailable("writing together", message.clone());
    std::iter::repeat_with(|| Err(each())).take(count).collect()
}

/// Whether some of what a group writes may be at fault, so that the others can be written without it.
fn is_of_one(error: &StoreError) -> bool {
    matches!(error, StoreError::Corrupt(_))
}

/// `None`: the job is for [`queue_alone`], which its caller awaits, and nobody else.
async fn queue(database: Arc<Database>, jobs: Arc<[Arc<Queued>]>) -> Vec<Option<QueuedResult>> {
    match queue_together(&database, &jobs).await {
        Ok(results) => results,
        Err(error) if is_of_one(&error) && jobs.len() > 1 => {
            let mut results = Vec::with_capacity(jobs.len());
            for job in jobs.chunks(1) {
                let queued = queue_together(&database, job).await;
                results.push(match queued {
                    Ok(mut results) => results.remove(0),
                    Err(error) => Some(Err(error)),
                });
            }
            results
        }
        Err(error) => of_each(jobs.len(), &error).into_iter().map(Some).collect(),
    }
}

async fn queue_together(
    database: &Database,
    jobs: &[Arc<Queued>],
) -> Result<Vec<Option<QueuedResult>>, StoreError> {
    let queue = |connection: Connection| async move { enqueue::together(&connection, jobs).await };
    database.run(Transaction::Locking, queue).await
}

async fn queue_alone(database: &Database, job: &Arc<Queued>) -> QueuedResult {
    let queue = |connection: Connection| async move { enqueue::alone(&connection, job).await };
    database.run(Transaction::Appending, queue).await
}

async fn commit(
    database: Arc<Database>,
    transaction: Transaction,
    jobs: Arc<[Arc<[RunCommit]>]>,
) -> Vec<CommitResults> {
    let commits: Vec<&RunCommit> = jobs.iter().flat_map(|job| job.iter()).collect();
    let results = match commit_together(&database, transaction, &commits).await {
        Ok(results) => results,
        Err(error) if is_of_one(&error) && commits.len() > 1 => {
            commit_apart(&database, transaction, &commits).await
        }
        Err(error) => of_each(commits.len(), &error),
    };
    let mut results = results.into_iter();
    let of_job = |job: &Arc<[RunCommit]>| results.by_ref().take(job.len()).collect();
    jobs.iter().map(of_job).collect()
}

async fn commit_together(
    database: &Database,
    transaction: Transaction,
    commits: &[&RunCommit],
) -> Result<CommitResults, StoreError> {
    let commit = |connection: Connection| async move {
        // Boxed: a future of all that a commit does is large.
        Box::pin(run_commit::commit_all(&connection, commits)).await
    };
    database.run(transaction, commit).await
}

/// Commits each in a transaction of its own, in their order.
async fn commit_apart(
    database: &Database,
    transaction: Transaction,
    commits: &[&RunCommit],
) -> CommitResults {
    let mut order = Order::default();
    let mut results = CommitResults::with_capacity(commits.len());
    for commit in commits {
        let one = std::slice::from_ref(commit);
        let result = match order.check(commit) {
            Err(error) => Err(error),
            Ok(()) => match commit_together(database, transaction, one).await {
                Ok(mut results) => results.remove(0),
                Err(error) => Err(error),
            },
        };
        order.note(commit, &result);
        results.push(result);
    }
    results
}
