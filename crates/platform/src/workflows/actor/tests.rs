//! Answers to waits that come at the moments at which a run is between the store and this node's memory.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use headwater_model::time::EpochMs;
use headwater_store::{
    FileContent, FilePath, FileStorage, FileUsage, FileWriter, FolderEntry, FolderRange,
    RunOutcome, Store, WaitId, WaitResolved, WorkLimit,
};
use headwater_store_sqlite::SqliteStore;
use headwater_workflow::run::Resolution;
use serde_json::{json, value::to_raw_value};

use super::*;
use crate::{
    accounts::Accounts,
    core::Core,
    data_stores::DataStores,
    files::Files,
    leases::Leases,
    props::Props,
    secrets::{KeyRing, SecretKeys},
    signing_key::{InstallationKey, SigningKey},
    testing::{
        HandClock, NoEngine, T0, claim_run, config, core, queue_leased, queue_run, workflow,
    },
    workflows::{AccountMasks, OpenedVariables, WaitKey, loading::ClaimedTogether},
};

/// A workflow that waits, which needs no engine.
const WAITS: &str = "name: Waits\nsteps:\n- namespace: pause\n  type: wait\n  timeout: 1h\n";
/// The same with a limit.
const LIMITED: &str = "name: Waits\nsettings:\n  concurrency: { limit: 1 }\nsteps:\n- namespace: pause\n  type: wait\n  timeout: 1h\n";

/// An actor whose events the test brings about one by one.
struct Bench {
    core: Arc<Core>,
    store: Arc<SqliteStore>,
    clock: Arc<HandClock>,
    actor: Box<Actor>,
    commands: mpsc::UnboundedSender<Command>,
}

impl Bench {
    async fn new() -> Self {
        Self::of(WAITS).await
    }

    /// The actor of that workflow.
    async fn of(definition: &str) -> Self {
        let clock = Arc::new(HandClock(AtomicU64::new(T0.0)));
        let store = Arc::new(SqliteStore::open_in_memory().unwrap());
        let on: Arc<dyn Store> = store.clone();
        let core = core(on, Arc::new(NoEngine), config(), clock.clone()).await;
        let content =
            json!({ "files": { "workflow.yaml": definition }, "steps": {}, "triggers": [] });
        let id = workflow(&core, "ada@example.com", content).await;
        let (commands, receiver) = mpsc::unbounded_channel();
        let context = context(&core).await;
        Self {
            actor: Box::new(Actor::new(Arc::new(context), id, receiver, Open::default())),
            core,
            store,
            clock,
            commands,
        }
    }

    /// Claims the run that is due.
    async fn claimed(&self) -> (RunnableLease, Claimed) {
        claim_run(&self.core, &self.actor.id).await
    }

    /// A run that was leased when it was queued.
    async fn leased(&self) -> Claimed {
        let id = &self.actor.id;
        let lease = self.actor.context.leases.of(&id.clone().into()).await;
        queue_leased(&self.core, lease.unwrap(), id).await
    }

    fn run(&self, leased: Claimed) -> Command {
        let of_workflow = RunnableLease {
            runnable: leased.runnable.clone(),
            epoch: leased.lease.epoch,
            fence: 1,
        };
        Command::Run(of_workflow, Box::new(leased))
    }

    fn arrives(&mut self, leased: Claimed) {
        let run = self.run(leased);
        self.actor.on_command(run);
    }

    /// The claim under way comes to its end.
    async fn claim_ended(&mut self) {
        let claim = self.actor.claiming.ended().await;
        self.actor.claimed(claim);
    }

    /// Whether those who queue runs would lease them.
    fn is_open(&self) -> bool {
        self.actor.tell_whether_open();
        self.actor.open.lock().is_some()
    }

    /// The run comes into memory, as far as it was being loaded.
    async fn loaded(&mut self) {
        let loaded = self.actor.loading.next().await.unwrap();
        self.actor.loaded(loaded).await;
    }

    /// Writes the commits that wait. The actor is not told yet.
    async fn written(&mut self) -> Committed {
        self.actor.start_commits();
        assert!(
            self.actor.commits.is_writing(),
            "there is something to commit"
        );
        self.actor.commits.written().await
    }

    /// A run that has come to its wait, and the commit of that, which is in the store, and of which the actor has not been
    /// told.
    async fn resting(&mut self) -> (InvocationId, Committed) {
        let run = queue_run(&self.core, &self.actor.id).await;
        let (lease, claimed) = self.claimed().await;
        self.actor.claimed(Ok((lease, vec![claimed])));
        self.loaded().await;
        let written = self.written().await;
        assert_eq!(self.actor.runs[&run].committing, Some(Committing::Rests));
        (run, written)
    }

    async fn answer(&self, run: &InvocationId, path: &str, resolution: &Resolution) {
        let answer = WaitResolution {
            wait: WaitId {
                run_id: run.clone(),
                path: path.to_owned(),
                generation: 0,
            },
            resolution: to_raw_value(resolution).unwrap(),
        };
        let resolved = self.core.store.resolve_wait(answer, T0).await.unwrap();
        assert!(matches!(resolved, WaitResolved::Now(_)));
    }

    /// The outcome of the run, if it has ended.
    async fn outcome(&self, run: &InvocationId) -> Option<RunOutcome> {
        let ended = self.core.store.run(run).await.unwrap();
        ended.map(|run| run.ended.outcome)
    }
}

/// The claim shows that the commit was written, so that the run is loaded anew, and not taken for one that is in memory
/// already.
#[tokio::test]
async fn a_run_that_is_claimed_again_before_its_rest_was_told_goes_on() {
    for is_told_first in [true, false] {
        let mut bench = Bench::new().await;
        let (run, written) = bench.resting().await;
        bench.answer(&run, "pause", &Resolution::Resume(None)).await;
        let (lease, claimed) = bench.claimed().await;
        bench.actor.claimed(Ok((lease, vec![claimed])));
        if is_told_first {
            bench.actor.committed(written).await;
            bench.loaded().await;
        } else {
            bench.loaded().await;
            // It is about the former stay in memory.
            bench.actor.committed(written).await;
            assert_eq!(bench.actor.runs[&run].committing, Some(Committing::Ends));
        }
        assert_eq!(bench.outcome(&run).await, None);
        let written = bench.written().await;
        bench.actor.committed(written).await;
        assert_eq!(bench.outcome(&run).await, Some(RunOutcome::Returned));
        assert!(bench.actor.runs.is_empty());
    }
}

#[tokio::test]
async fn a_run_is_loaded_once_the_store_can_be_read_again() {
    let mut bench = Bench::new().await;
    let run = queue_run(&bench.core, &bench.actor.id).await;
    let (lease, claimed) = bench.claimed().await;
    bench.actor.claimed(Ok((lease, vec![claimed])));
    // Those that are claimed together are read together, and then each for itself.
    bench.store.faults().fail_reads(2);
    bench.loaded().await;
    assert!(bench.actor.runs.contains_key(&run));
}

#[tokio::test]
async fn runs_that_wait_for_room_are_counted_once_the_store_can_be_read_again() {
    let mut bench = Bench::of(LIMITED).await;
    let run = queue_run(&bench.core, &bench.actor.id).await;
    let (lease, claimed) = bench.claimed().await;
    bench.actor.claimed(Ok((lease, vec![claimed])));
    let loaded = bench.actor.loading.next().await.unwrap();
    bench.store.faults().fail_reads(1);
    bench.actor.loaded(loaded).await;
    assert_eq!(bench.actor.held.runs, std::slice::from_ref(&run));
    let judged = bench.actor.held.judged().await;
    bench.actor.on_judged(judged).await;
    assert!(bench.actor.held.runs.is_empty());
    assert!(bench.actor.runs[&run].committing.is_some(), "it has begun");
}

/// The first one has begun, and the store does not know yet.
#[tokio::test]
async fn a_run_that_begins_while_its_workflow_is_deployed_anew_keeps_its_place() {
    let mut bench = Bench::of(LIMITED).await;
    let mut runs = Vec::new();
    for _ in 0..2 {
        let run = queue_run(&bench.core, &bench.actor.id).await;
        let (lease, claimed) = bench.claimed().await;
        bench.actor.claimed(Ok((lease, vec![claimed])));
        bench.loaded().await;
        let judged = bench.actor.held.judged().await;
        bench.actor.on_judged(judged).await;
        bench.actor.on_command(Command::Reload);
        runs.push(run);
    }
    assert!(bench.actor.runs[&runs[0]].is_admitted);
    assert!(!bench.actor.runs.contains_key(&runs[1]), "it is given back");
}

/// Its lease ran out while the store was away, and the actor itself claimed it anew.
#[tokio::test]
async fn a_run_whose_commit_is_refused_is_free_at_once() {
    let mut bench = Bench::new().await;
    let run = queue_run(&bench.core, &bench.actor.id).await;
    let (lease, claimed) = bench.claimed().await;
    bench.actor.claimed(Ok((lease, vec![claimed])));
    bench.loaded().await;
    // As of a commit after a step.
    let known = bench.actor.runs.get_mut(&run).unwrap();
    known.committing = Some(Committing::GoesOn);
    bench.clock.0.fetch_add(61_000, Ordering::SeqCst);
    let (lease, claimed) = bench.claimed().await;
    bench.actor.claimed(Ok((lease, vec![claimed])));
    let refused = bench.written().await;
    assert!(refused.results[0].is_err());
    bench.actor.committed(refused).await;
    assert!(bench.actor.runs.is_empty());
    bench.core.tasks.close();
    bench.core.tasks.wait().await;
    let (_, claimed) = bench.claimed().await;
    assert_eq!(claimed.lease.invocation_id, run);
}

/// It would be refused again, and its step done again, as fast as it is claimed.
#[tokio::test]
async fn a_run_whose_values_the_store_refuses_waits_for_the_end_of_its_lease() {
    let mut bench = Bench::new().await;
    let run = queue_run(&bench.core, &bench.actor.id).await;
    let (lease, claimed) = bench.claimed().await;
    bench.actor.claimed(Ok((lease.clone(), vec![claimed])));
    bench.loaded().await;
    let refused = Committed {
        woken: Vec::new(),
        runs: vec![run],
        results: vec![Err(StoreError::Corrupt("too long".to_owned()))],
    };
    bench.actor.committed(refused).await;
    assert!(bench.actor.runs.is_empty());
    bench.core.tasks.close();
    bench.core.tasks.wait().await;
    let (term, now_ms) = (bench.core.lease_term(), bench.core.env.now_ms());
    let claim = bench
        .core
        .store
        .claim(&lease, term, now_ms, WorkLimit::of(1));
    assert!(claim.await.unwrap().is_empty());
}

#[tokio::test]
async fn leases_that_may_have_run_out_are_prolonged_before_the_next_claim() {
    let mut bench = Bench::new().await;
    let run = queue_run(&bench.core, &bench.actor.id).await;
    let (lease, claimed) = bench.claimed().await;
    let starts = claimed.starts;
    bench.actor.claimed(Ok((lease, vec![claimed])));
    bench.loaded().await;
    bench.clock.0.fetch_add(61_000, Ordering::SeqCst);
    bench.actor.on_command(Command::Claim);
    bench.actor.claim();
    bench.claim_ended().await;
    assert_eq!(bench.actor.runs[&run].claimed.starts, starts);
    let written = bench.written().await;
    assert!(written.results[0].is_ok());
}

/// Runs that are claimed together are read together, and each takes its own answers.
#[tokio::test]
async fn runs_that_are_claimed_together_take_their_own_answers() {
    let mut bench = Bench::new().await;
    let mut runs = Vec::new();
    let mut claimed = Vec::new();
    for _ in 0..2 {
        runs.push(queue_run(&bench.core, &bench.actor.id).await);
        let (lease, run) = bench.claimed().await;
        bench.actor.lease = Some(lease);
        claimed.push(run);
    }
    bench.answer(&runs[1], "", &Resolution::Cancel).await;
    let lease = bench.actor.lease.clone().unwrap();
    bench.actor.claimed(Ok((lease, claimed)));
    for _ in &runs {
        bench.loaded().await;
    }
    let written = bench.written().await;
    bench.actor.committed(written).await;
    assert_eq!(bench.outcome(&runs[0]).await, None);
    assert_eq!(bench.outcome(&runs[1]).await, Some(RunOutcome::Cancelled));
}

/// The run has read its answers before this one came, and nobody would read them again.
#[tokio::test]
async fn an_answer_that_comes_while_its_run_is_loaded_is_taken_up() {
    let mut bench = Bench::new().await;
    let run = queue_run(&bench.core, &bench.actor.id).await;
    let (lease, claimed) = bench.claimed().await;
    bench.actor.lease = Some(lease);
    bench
        .actor
        .loading_leases
        .insert(run.clone(), claimed.lease.clone());
    let together = ClaimedTogether::of(std::slice::from_ref(&claimed));
    let loaded = bench
        .actor
        .context
        .load(&bench.actor.id, claimed, &together);
    let loaded = loaded.await;
    bench.answer(&run, "", &Resolution::Cancel).await;
    let loaded: Loaded = (run.clone(), loaded.map(Box::new));
    bench.actor.loading.push_back(Box::pin(async { loaded }));
    let (applied, mut is_applied) = oneshot::channel();
    let told = Command::Resolved(run.clone(), Some(applied));
    bench.actor.on_command(told);
    bench.loaded().await;
    let answers = bench.actor.answers.next().await;
    bench.actor.answered(answers.expect("the answers are read"));
    // The run came to its wait at once. Its rest is committed first, and whoever cancelled it waits on.
    let rest = bench.written().await;
    bench.actor.committed(rest).await;
    let waits = is_applied.try_recv();
    assert_eq!(waits, Err(oneshot::error::TryRecvError::Empty));
    let (lease, claimed) = bench.claimed().await;
    bench.actor.claimed(Ok((lease, vec![claimed])));
    bench.loaded().await;
    let end = bench.written().await;
    bench.actor.committed(end).await;
    assert_eq!(bench.outcome(&run).await, Some(RunOutcome::Cancelled));
    assert!(is_applied.await.is_err(), "whoever waits is told");
}

#[tokio::test]
async fn runs_that_come_with_their_leases_are_taken_in_after_those_before_them() {
    let mut bench = Bench::new().await;
    let first = queue_run(&bench.core, &bench.actor.id).await;
    bench.actor.claim();
    let leased = bench.leased().await;
    let second = leased.lease.invocation_id.clone();
    bench.arrives(leased);
    bench.actor.take_in_arrived();
    assert!(bench.actor.loading.is_empty(), "the claim is under way");
    bench.claim_ended().await;
    bench.actor.take_in_arrived();
    bench.loaded().await;
    assert!(bench.actor.runs.contains_key(&first));
    assert!(!bench.actor.runs.contains_key(&second));
    bench.actor.take_in_arrived();
    bench.loaded().await;
    assert!(bench.actor.runs.contains_key(&second));
    let written = bench.written().await;
    bench.actor.committed(written).await;
    assert!(bench.actor.runs.is_empty(), "both have come to their waits");
}

/// Those who queue runs find the actor closed, so that it claims as long as they come.
#[tokio::test]
async fn runs_that_came_with_their_leases_do_not_wait_for_the_last_claim() {
    let mut bench = Bench::new().await;
    let leased = vec![bench.leased().await; RUNS_MAX];
    let first = leased[0].lease.invocation_id.clone();
    for run in leased {
        bench.arrives(run);
    }
    bench.actor.claim();
    bench.actor.on_command(Command::Claim);
    bench.claim_ended().await;
    assert!(bench.actor.more && bench.actor.arrived.is_empty());
    bench.loaded().await;
    assert!(bench.actor.runs.contains_key(&first));
}

#[tokio::test]
async fn runs_come_with_their_leases_unless_the_store_has_some_before_them_or_there_is_no_room() {
    let mut bench = Bench::new().await;
    assert!(!bench.is_open(), "nothing was claimed yet");
    bench.actor.claim();
    bench.claim_ended().await;
    assert!(bench.is_open());
    bench.actor.on_command(Command::Claim);
    assert!(!bench.is_open());
    bench.actor.claim();
    bench.claim_ended().await;
    assert!(bench.is_open());
    let leased = bench.leased().await;
    bench.actor.arrived = vec![leased; RUNS_MAX];
    assert!(!bench.is_open());
    bench.actor.arrived.clear();
    bench.actor.stopping = true;
    assert!(!bench.is_open());
}

/// One is known to the actor, another is on its way to it.
#[tokio::test]
async fn runs_that_came_with_their_leases_are_given_back_in_the_end() {
    let mut bench = Bench::new().await;
    let (known, on_its_way) = (bench.leased().await, bench.leased().await);
    bench.arrives(known);
    let command = bench.run(on_its_way);
    assert!(bench.commands.send(command).is_ok());
    let (core, id) = (Arc::clone(&bench.core), bench.actor.id.clone());
    bench.actor.leave().await;
    for _ in 0..2 {
        let (_, claimed) = claim_run(&core, &id).await;
        assert_eq!(claimed.starts, 1, "it was not begun");
    }
}

#[tokio::test]
async fn an_answer_that_comes_before_its_run_does_is_taken_up() {
    let mut bench = Bench::new().await;
    bench.actor.claim();
    bench.claim_ended().await;
    let leased = bench.leased().await;
    let run = leased.lease.invocation_id.clone();
    bench.answer(&run, "", &Resolution::Cancel).await;
    bench.actor.on_command(Command::Resolved(run.clone(), None));
    bench.arrives(leased);
    bench.actor.claim();
    bench.claim_ended().await;
    bench.actor.take_in_arrived();
    bench.loaded().await;
    let written = bench.written().await;
    bench.actor.committed(written).await;
    assert_eq!(bench.outcome(&run).await, Some(RunOutcome::Cancelled));
}

async fn context(core: &Arc<Core>) -> WorkflowContext {
    let secret_keys = Arc::new(SecretKeys::new(KeyRing::first([7; 32]), None));
    let key = InstallationKey::load(core, &secret_keys).await.unwrap();
    let wait_key = Arc::new(WaitKey(SigningKey([7; 64])));
    let accounts = Accounts::new(Arc::clone(core), Arc::clone(&secret_keys));
    let accounts = Arc::new(accounts.unwrap());
    let (of_variables, of_accounts) = (Arc::clone(&wait_key), Arc::clone(&wait_key));
    let variables = OpenedVariables::new(Arc::clone(core), Arc::clone(&secret_keys), of_variables);
    let account_masks = AccountMasks::new(Arc::clone(core), Arc::clone(&accounts), of_accounts);
    WorkflowContext {
        core: Arc::clone(core),
        leases: Arc::new(Leases::new(Arc::clone(core), false)),
        data_stores: Arc::new(DataStores::new(Arc::clone(core))),
        files: Arc::new(Files::new(Arc::clone(core), Arc::new(NoFiles), &key)),
        props: Arc::new(Props::new(secret_keys, accounts)),
        deployments: Default::default(),
        responders: Default::default(),
        endings: Default::default(),
        error_mails: Default::default(),
        variables: Arc::new(variables),
        account_masks: Arc::new(account_masks),
        wait_key,
        residents: Default::default(),
    }
}

/// Nothing of a run that waits is in files.
struct NoFiles;

#[async_trait]
impl FileStorage for NoFiles {
    async fn open(&self, _: &str, _: &FilePath) -> io::Result<Option<Box<dyn FileContent>>> {
        Ok(None)
    }

    async fn list(&self, _: &str, _: FolderRange) -> io::Result<Vec<FolderEntry>> {
        Ok(Vec::new())
    }

    async fn usage(&self, _: &str) -> io::Result<FileUsage> {
        Ok(FileUsage::default())
    }

    async fn begin(&self, _: &str) -> io::Result<Box<dyn FileWriter>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    async fn delete(&self, _: &str, _: &FilePath) -> io::Result<bool> {
        Ok(false)
    }

    async fn delete_all(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    async fn delete_expired(&self, _: EpochMs) -> io::Result<u64> {
        Ok(0)
    }

    async fn tenants(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }
}
