//! Group commit: one thread writes; steps that arrive while it commits share the next transaction.
//!
//! Each step runs in a savepoint of its own, so that one that fails takes nothing else with it. A step of a single
//! writing statement does without: SQLite undoes a statement that fails, and a savepoint copies each page it changes.
//! A step is answered only after the transaction is on disk. Work that mostly finds nothing to write looks first: on
//! the writer's own connection, whose cache knows what was written last, and without a transaction if it comes first.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use headwater_store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    connection::failed,
    health::{Health, checkpoint},
};

/// The number of queued steps beyond which callers wait.
const WAITING: usize = 4096;
/// Steps per transaction.
const GROUP: usize = 512;
/// The idle time after which writes are copied into the main file.
pub(crate) const IDLE: Duration = Duration::from_secs(1);

/// Called with the result of the transaction.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// Runs in the transaction.
type Run = Box<dyn FnOnce(&Connection) -> Outcome + Send>;
/// Finds the step to run, or the answer if nothing is to be written.
type Look = Box<dyn FnOnce(&Connection) -> Result<Step, Answer> + Send>;

/// Writes that are kept or undone together.
struct Step {
    run: Run,
    undoing: Undoing,
}

/// How a step that fails leaves nothing behind.
#[derive(Clone, Copy)]
enum Undoing {
    /// Its savepoint is rolled back.
    Savepoint,
    /// It ends with its only statement that writes.
    Statement,
}

/// Work for the writer.
enum Job {
    Write(Step),
    LookFirst(Look),
}

impl Job {
    /// The step to run, or the answer if nothing is to be written. A caller whose look panics learns of it from the
    /// dropped answer.
    fn look(self, connection: &Connection) -> Result<Step, Answer> {
        match self {
            Self::Write(step) => Ok(step),
            Self::LookFirst(look) => catch_unwind(AssertUnwindSafe(|| look(connection)))
                .unwrap_or_else(|_| Err(Box::new(|_| ()))),
        }
    }
}

/// The end of a step.
struct Outcome {
    /// Whether its writes are kept.
    is_kept: bool,
    /// The database's error text, if it could not write everything.
    cause: Option<String>,
    answer: Answer,
}

/// A handle on the writer thread, which ends with it.
pub(crate) struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Moves the connection to a thread of its own. `idle`: the time without work after which writes are copied.
    pub(crate) fn start(
        connection: Connection,
        health: Arc<Health>,
        idle: Duration,
    ) -> Result<Self, StoreError> {
        let (jobs, waiting) = sync_channel(WAITING);
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || write_in_groups(&connection, &waiting, &health, idle))
            .map_err(|error| StoreError::unavailable("starting the writer", error))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Runs a step and waits until it is durable.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run_noting(step, error_text, Undoing::Savepoint).await
    }

    /// Runs a step that writes with one statement, its last, and waits until it is durable.
    pub(crate) async fn run_statement<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run_noting(step, error_text, Undoing::Statement).await
    }

    /// Runs a step of parts that are kept or refused one by one.
    pub(crate) async fn run_parts(
        &self,
        parts: impl FnOnce(&Connection) -> Result<Vec<Result<(), StoreError>>, StoreError>
        + Send
        + 'static,
    ) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        let cause = |results: &Result<Vec<Result<(), StoreError>>, StoreError>| {
            let parts = results.iter().flatten();
            let of_parts = parts.filter_map(|part| part.as_ref().err());
            results
                .as_ref()
                .err()
                .into_iter()
                .chain(of_parts)
                .find_map(database_error)
        };
        self.run_noting(parts, cause, Undoing::Savepoint).await
    }

    /// Runs a step whose result may carry the error text of a failed write.
    async fn run_noting<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        cause: fn(&Result<T, StoreError>) -> Option<String>,
        undoing: Undoing,
    ) -> Result<T, StoreError> {
        let (sender, answer) = oneshot::channel();
        let run = answering(step, cause, sender);
        self.submit(Job::Write(Step { run, undoing })).await?;
        answer.await.map_err(|_| gone())?
    }

    /// Runs `step` unless `look`, which only reads, has the answer.
    pub(crate) async fn run_unless<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<Option<T>, StoreError> + Send + 'static,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, answer) = oneshot::channel();
        let look: Look = Box::new(move |connection| {
            let found = match look(connection).transpose() {
                None => {
                    return Ok(Step {
                        run: answering(step, error_text, sender),
                        undoing: Undoing::Savepoint,
                    });
                }
                Some(found) => found,
            };
            Err(Box::new(move |committed| {
                let _ = sender.send(committed.and(found));
            }))
        });
        self.submit(Job::LookFirst(look)).await?;
        answer.await.map_err(|_| gone())?
    }

    async fn submit(&self, job: Job) -> Result<(), StoreError> {
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        match jobs.try_send(job) {
            Ok(()) => Ok(()),
            Err(TrySendError::Disconnected(_)) => Err(gone()),
            Err(TrySendError::Full(job)) => {
                let jobs = jobs.clone();
                let sent = tokio::task::spawn_blocking(move || jobs.send(job)).await;
                sent.map_err(|_| gone())?.map_err(|_| gone())
            }
        }
    }
}

/// A step that hands its result over. `cause` finds the error text of a failed write in it.
fn answering<T: Send + 'static>(
    step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    cause: fn(&Result<T, StoreError>) -> Option<String>,
    sender: oneshot::Sender<Result<T, StoreError>>,
) -> Run {
    Box::new(move |connection| {
        let result = step(connection);
        Outcome {
            is_kept: result.is_ok(),
            cause: cause(&result),
            answer: Box::new(move |committed| {
                let _ = sender.send(committed.and(result));
            }),
        }
    })
}

impl Drop for Writer {
    /// Waits until queued steps are written: the file must not be opened before that.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn gone() -> StoreError {
    StoreError::unavailable(
        "reaching the writer",
        std::io::Error::from(std::io::ErrorKind::BrokenPipe),
    )
}

/// The text of the database's error, if the result has one.
fn error_text<T>(result: &Result<T, StoreError>) -> Option<String> {
    result.as_ref().err().and_then(database_error)
}

/// The text of the database's error, if it is the cause.
fn database_error(error: &StoreError) -> Option<String> {
    match error {
        StoreError::Unavailable { source, .. } => Some(source.to_string()),
        StoreError::Conflict(_) | StoreError::Corrupt(_) | StoreError::Unsupported(_) => None,
    }
}

fn write_in_groups(
    connection: &Connection,
    waiting: &Receiver<Job>,
    health: &Health,
    idle: Duration,
) {
    let mut written_at: Option<Instant> = None;
    let copy = || match checkpoint(connection, "PASSIVE") {
        Ok(()) => health.copied.notify_one(),
        Err(error) => {
            tracing::debug!(error = error.in_full(), "the store is not consolidated");
        }
    };
    while let Some(first) = next(waiting, &mut written_at, idle, copy) {
        let first = match first.look(connection) {
            Ok(step) => Job::Write(step),
            Err(answer) => {
                answer(Ok(()));
                continue;
            }
        };
        let group = std::iter::once(first).chain(waiting.try_iter().take(GROUP - 1));
        if let Err(error) = begin(connection) {
            // Nothing may be run outside a transaction: the steps are dropped, which their callers see.
            health.fail(&error.in_full());
            group.for_each(drop);
            continue;
        }
        let (mut answers, mut cause) = (Vec::new(), None);
        for job in group {
            // An error such as a full disk ends the whole transaction, and with it every step before.
            if !connection.is_autocommit() {
                answers.push(match job.look(connection) {
                    Ok(step) => run_step(connection, step, &mut cause),
                    Err(answer) => answer,
                });
            }
        }
        written_at = Some(Instant::now());
        let committed = commit(connection, cause.as_deref());
        match committed.as_ref().err().or(cause.as_ref()) {
            Some(cause) => health.fail(cause),
            None => health.probe(connection, Instant::now()),
        }
        for answer in answers {
            answer(match &committed {
                Ok(()) => Ok(()),
                Err(cause) => Err(StoreError::unavailable("committing", cause.clone())),
            });
        }
    }
}

/// The next job; `None` once all senders are gone. Calls `copy` when nothing has been written for the idle time.
fn next(
    waiting: &Receiver<Job>,
    written_at: &mut Option<Instant>,
    idle: Duration,
    copy: impl FnOnce(),
) -> Option<Job> {
    if let Some(at) = *written_at {
        match waiting.recv_timeout(idle.saturating_sub(at.elapsed())) {
            Ok(job) => return Some(job),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                *written_at = None;
                copy();
            }
        }
    }
    waiting.recv().ok()
}

fn begin(connection: &Connection) -> Result<(), StoreError> {
    connection
        .execute_batch("BEGIN IMMEDIATE")
        .map_err(failed("beginning a transaction"))
}

/// Commits, or returns the reason why nothing is written. `cause`: the database's last error in the transaction.
fn commit(connection: &Connection, cause: Option<&str>) -> Result<(), String> {
    if connection.is_autocommit() {
        let unknown = "an error of the database ended the transaction";
        return Err(cause.unwrap_or(unknown).to_owned());
    }
    let committed = connection.execute_batch("COMMIT");
    if committed.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    committed.map_err(|error| error.to_string())
}

/// The reason why a step is rolled back.
enum Rollback {
    Requested,
    Failed(StoreError),
}

impl From<StoreError> for Rollback {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// Runs a step. If it panics, its savepoint is rolled back, and its caller learns of it from the dropped answer.
fn run_step(connection: &Connection, step: Step, cause: &mut Option<String>) -> Answer {
    let Step { run, undoing } = step;
    let mut answer: Option<Answer> = None;
    let attempt = || {
        let outcome = catch_unwind(AssertUnwindSafe(|| run(connection)))
            .map_err(|_| StoreError::Corrupt("a step panicked".to_owned()))?;
        answer = Some(outcome.answer);
        *cause = outcome.cause.or(cause.take());
        match outcome.is_kept {
            true => Ok(()),
            false => Err(Rollback::Requested),
        }
    };
    let kept = match undoing {
        Undoing::Savepoint => savepoint(connection, attempt),
        Undoing::Statement => attempt(),
    };
    match (answer, kept) {
        // The caller gets the step's own error.
        (Some(answer), Ok(()) | Err(Rollback::Requested)) => answer,
        (Some(answer), Err(Rollback::Failed(error))) => {
            // If the database has ended the transaction, the missing savepoint is a consequence, not the cause.
            let error = match cause.as_deref() {
                Some(cause) => StoreError::unavailable("writing", cause.to_owned()),
                None => error,
            };
            Box::new(move |_| answer(Err(error)))
        }
        (None, _) => Box::new(|_| ()),
    }
}

/// Runs a part of a transaction that is kept or rolled back as a whole.
pub(crate) fn savepoint<T, E: From<StoreError>>(
    connection: &Connection,
    part: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let run = |sql: &str| {
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(()).map(drop)
    };
    run("SAVEPOINT part").map_err(failed("setting a savepoint"))?;
    let result = part();
    if result.is_err() {
        if connection.is_autocommit() {
            // The database has ended the transaction with its savepoints; the part's own error has the cause.
            return result;
        }
        run("ROLLBACK TO part").map_err(failed("rolling back"))?;
    }
    run("RELEASE part").map_err(failed("releasing a savepoint"))?;
    result
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use headwater_store::{Conflict, NodeEpoch};

    use super::*;
    use crate::{connection, migration};

    fn started() -> Writer {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE a (x)").unwrap();
        Writer::start(connection, Arc::default(), IDLE).unwrap()
    }

    fn insert(connection: &Connection, number: u32) -> Result<u32, StoreError> {
        let inserted = connection.execute("INSERT INTO a VALUES (?)", [number]);
        inserted.map_err(failed("testing"))?;
        Ok(number)
    }

    async fn rows(writer: &Writer) -> Vec<u32> {
        let read = |connection: &Connection| {
            let mut statement = connection.prepare("SELECT x FROM a ORDER BY x").unwrap();
            let rows = statement.query_map((), |row| row.get(0)).unwrap();
            Ok(rows.map(Result::unwrap).collect())
        };
        writer.run(read).await.unwrap()
    }

    /// Runs steps 0 to 99 at once, in one group: the writer is held up until all of them wait.
    async fn run_in_one_group(
        writer: &Writer,
        step: fn(&Connection, u32) -> Result<u32, StoreError>,
    ) -> Vec<Result<u32, StoreError>> {
        let (begin, begun) = channel::<()>();
        let hold = writer.run(move |_| {
            let _ = begun.recv();
            Ok(0)
        });
        let mut waiting: Vec<_> = (0..100)
            .map(|number| Box::pin(writer.run(move |connection| step(connection, number))))
            .collect();
        let mut hold = Box::pin(hold);
        // Polling once hands the step over.
        assert!(poll_once(hold.as_mut()).await.is_none());
        for one in &mut waiting {
            assert!(poll_once(one.as_mut()).await.is_none());
        }
        begin.send(()).unwrap();
        let _ = hold.await;
        let mut results = Vec::new();
        for one in waiting {
            results.push(one.await);
        }
        results
    }

    async fn poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        std::future::poll_fn(|context| match future.as_mut().poll(context) {
            std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
            std::task::Poll::Pending => std::task::Poll::Ready(None),
        })
        .await
    }

    /// A conflict that says which step it is of.
    fn refused(number: u32) -> StoreError {
        let by = NodeEpoch(number.into());
        Conflict::Held { by }.into()
    }

    #[tokio::test]
    async fn a_failing_or_panicking_step_takes_nothing_else_of_its_group_with_it() {
        let writer = started();
        let results = run_in_one_group(&writer, |connection, number| {
            insert(connection, number)?;
            match number {
                50 => panic!("a step that panics on purpose"),
                number if number.is_multiple_of(7) => Err(refused(number)),
                number => Ok(number),
            }
        })
        .await;
        let should_be_kept = |number: &u32| !number.is_multiple_of(7) && *number != 50;
        for (number, result) in (0..).zip(results) {
            match result {
                Ok(answer) => assert_eq!(answer, number),
                Err(StoreError::Conflict(Conflict::Held { by })) => {
                    assert_eq!(by, NodeEpoch(number.into()));
                }
                Err(_) => assert_eq!(number, 50),
            }
        }
        let kept: Vec<u32> = (0..100).filter(should_be_kept).collect();
        assert_eq!(rows(&writer).await, kept);
    }

    #[tokio::test]
    async fn a_statement_that_fails_leaves_nothing_behind_and_takes_nothing_with_it() {
        let writer = started();
        let execute = |sql: &'static str| {
            move |connection: &Connection| connection.execute(sql, ()).map_err(failed("testing"))
        };
        let unique = writer.run(execute("CREATE UNIQUE INDEX a_by_x ON a (x)"));
        unique.await.unwrap();
        let (first, failing, last) = tokio::join!(
            writer.run_statement(execute("INSERT INTO a VALUES (1)")),
            writer.run_statement(execute("INSERT INTO a VALUES (2), (1)")),
            writer.run_statement(execute("INSERT INTO a VALUES (3)")),
        );
        assert!(matches!(failing, Err(StoreError::Corrupt(_))));
        assert_eq!((first.unwrap(), last.unwrap()), (1, 1));
        assert_eq!(rows(&writer).await, [1, 3]);
    }

    #[tokio::test]
    async fn a_look_costs_no_transaction_unless_there_is_something_to_write() {
        let writer = started();
        let count = |connection: &Connection| {
            let count = connection.query_row("SELECT count(*) FROM a", (), |row| row.get(0));
            count.map_err(failed("testing"))
        };
        let if_empty = move |connection: &Connection| {
            assert!(connection.is_autocommit(), "nobody else writes");
            let rows: u32 = count(connection)?;
            Ok((rows > 0).then_some(rows))
        };
        let write = |connection: &Connection| {
            assert!(!connection.is_autocommit());
            insert(connection, 7)
        };
        assert_eq!(writer.run_unless(if_empty, write).await.unwrap(), 7);
        assert_eq!(writer.run_unless(if_empty, write).await.unwrap(), 1);
        assert_eq!(rows(&writer).await, [7]);
        let refusing = |_: &Connection| Err::<Option<u32>, _>(refused(1));
        let panicking =
            |_: &Connection| -> Result<Option<u32>, StoreError> { panic!("on purpose") };
        assert!(writer.run_unless(refusing, write).await.is_err());
        assert!(writer.run_unless(panicking, write).await.is_err());
        assert_eq!(rows(&writer).await, [7]);
    }

    /// A look in a group sees the steps before it, and is answered with them.
    #[tokio::test]
    async fn looks_share_the_transaction_of_a_group() {
        let writer = started();
        let (begin, begun) = channel::<()>();
        let mut hold = Box::pin(writer.run(move |connection| {
            let _ = begun.recv();
            insert(connection, 0)
        }));
        let look = |connection: &Connection| {
            assert!(!connection.is_autocommit());
            let has = connection.query_row("SELECT 1 FROM a WHERE x = 0", (), |row| row.get(0));
            Ok(has.ok())
        };
        let write = |connection: &Connection| insert(connection, 9);
        let mut looking = Box::pin(writer.run_unless(look, write));
        assert!(poll_once(hold.as_mut()).await.is_none());
        assert!(poll_once(looking.as_mut()).await.is_none());
        begin.send(()).unwrap();
        assert_eq!(hold.await.unwrap(), 0);
        assert_eq!(looking.await.unwrap(), 1);
        assert_eq!(rows(&writer).await, [0]);
    }

    /// A full disk and the like end the transaction of the whole group. Then nobody is told that it worked.
    #[tokio::test]
    async fn when_the_database_ends_a_transaction_nothing_of_the_group_is_written() {
        let writer = started();
        let results = run_in_one_group(&writer, |connection, number| {
            if number == 50 {
                connection.execute_batch("ROLLBACK").unwrap();
                return Err(StoreError::unavailable("testing", "the disk is full"));
            }
            insert(connection, number)
        })
        .await;
        let unavailable = |result| matches!(result, Err(StoreError::Unavailable { .. }));
        assert!(results.into_iter().all(unavailable));
        assert_eq!(rows(&writer).await, Vec::<u32>::new());
        writer
            .run(|connection| insert(connection, 7))
            .await
            .unwrap();
        assert_eq!(rows(&writer).await, [7]);
    }

    /// The node is not well until more than a little can be written again, and says why in the database's words.
    #[tokio::test]
    async fn a_full_database_is_known_until_a_large_write_succeeds() {
        let connection = connection::in_memory().unwrap();
        migration::run(&connection).unwrap();
        connection.execute_batch("CREATE TABLE a (x)").unwrap();
        let health = Arc::new(Health::probed_every(Duration::ZERO));
        let writer = Writer::start(connection, Arc::clone(&health), IDLE).unwrap();
        let limit = |pages: &'static str| {
            move |connection: &Connection| {
                let sql = format!("SELECT page_count + {pages} FROM pragma_page_count");
                let limit: u32 = connection.query_row(&sql, (), |row| row.get(0)).unwrap();
                let limited = connection.pragma_update(None, "max_page_count", limit);
                limited.map_err(failed("testing"))
            }
        };
        let large = |connection: &Connection| {
            let inserted = connection.execute("INSERT INTO a VALUES (zeroblob(100000))", ());
            inserted.map_err(failed("testing"))
        };
        writer.run(limit("8")).await.unwrap();
        assert_eq!(health.cause(), None);
        let refused = writer.run(large).await.unwrap_err();
        let refused_in_full = refused.in_full();
        assert!(
            refused_in_full.contains("database or disk is full"),
            "{refused_in_full}"
        );
        assert!(
            !refused.to_string().contains("database or disk"),
            "{refused}"
        );
        for number in 0..3 {
            assert!(health.cause().unwrap().contains("database or disk is full"));
            writer
                .run(move |connection| insert(connection, number))
                .await
                .unwrap();
        }
        assert!(health.cause().is_some(), "small ones have succeeded");
        writer.run(limit("1000000")).await.unwrap();
        assert_eq!(health.cause(), None);
        writer.run(large).await.unwrap();
        assert_eq!(health.cause(), None);
    }

    #[tokio::test]
    async fn closing_waits_for_what_is_queued() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE a (x)").unwrap();
        let writer = Writer::start(connection, Arc::default(), IDLE).unwrap();
        for number in 0..100 {
            let mut step = Box::pin(writer.run(move |connection| insert(connection, number)));
            // The caller goes away at once.
            let _ = poll_once(step.as_mut()).await;
        }
        drop(writer);
        let reopened = Connection::open(&path).unwrap();
        let count = reopened.query_row("SELECT count(*) FROM a", (), |row| row.get::<_, u32>(0));
        assert_eq!(count.unwrap(), 100);
    }
}
