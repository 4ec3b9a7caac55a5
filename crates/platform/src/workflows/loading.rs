//! Taking a claimed run into memory: its head, its deployment, its places, and answers that came meanwhile.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use headwater_model::id::{InvocationId, WorkflowId};
use headwater_store::{Claimed, PlaceWrite, RunBlob, Trigger, WaitResolution, Workflow};
use headwater_workflow::{
    definition::Definition,
    path::Path,
    run::{Place, Replay, Resolution, RunTree, State},
};
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::{
    admission::is_limited,
    context::WorkflowContext,
    deployed::Deployed,
    endings::Awaited,
    head::{Head, ReplayOf},
    live::{LiveRun, NODES_LOST_MAX, Pending},
    step_logs::StepLogs,
};
use crate::{actor::CANCELLED, error::PlatformError};

/// Runs of a workflow that were claimed together: the first that is loaded reads for all.
pub(super) struct ClaimedTogether {
    runs: Vec<InvocationId>,
    /// `None`: it could not be read, so that each run reads for itself.
    read: OnceCell<Option<Read>>,
}

/// The workflow of runs, and the answers to their waits that they have not taken yet.
struct Read {
    workflow: Arc<Workflow>,
    answers: Mutex<HashMap<InvocationId, Vec<WaitResolution>>>,
}

impl Read {
    async fn of(
        context: &WorkflowContext,
        id: &WorkflowId,
        runs: &[InvocationId],
    ) -> Result<Self, PlatformError> {
        let read = context.core.store.workflow_of_runs(id, runs).await?;
        let (workflow, read) = read.ok_or_else(|| PlatformError::not_found("workflow", id))?;
        let mut answers = HashMap::<_, Vec<_>>::new();
        for answer in read {
            let of_run = answers.entry(answer.wait.run_id.clone());
            of_run.or_default().push(answer);
        }
        Ok(Self {
            workflow: Arc::new(workflow),
            answers: Mutex::new(answers),
        })
    }

    fn take(&self, run: &InvocationId) -> (Arc<Workflow>, Vec<WaitResolution>) {
        let answers = self.answers.lock().remove(run);
        (Arc::clone(&self.workflow), answers.unwrap_or_default())
    }
}

impl ClaimedTogether {
    pub(super) fn of(claimed: &[Claimed]) -> Self {
        let ids = claimed.iter().map(|run| run.lease.invocation_id.clone());
        Self {
            runs: ids.collect(),
            read: OnceCell::new(),
        }
    }

    /// The workflow, and the answers to the waits of one of the runs.
    async fn take(
        &self,
        context: &WorkflowContext,
        id: &WorkflowId,
        run: &InvocationId,
    ) -> Result<(Arc<Workflow>, Vec<WaitResolution>), PlatformError> {
        let together = || async { Read::of(context, id, &self.runs).await.ok() };
        match self.read.get_or_init(together).await {
            Some(read) => Ok(read.take(run)),
            None => {
                let alone = Read::of(context, id, std::slice::from_ref(run)).await?;
                Ok(alone.take(run))
            }
        }
    }
}

impl WorkflowContext {
    /// The run as it goes on from here.
    ///
    /// # Errors
    /// The store cannot be read, or what it has makes no sense.
    pub(super) async fn load(
        &self,
        id: &WorkflowId,
        mut claimed: Claimed,
        together: &ClaimedTogether,
    ) -> Result<LiveRun, PlatformError> {
        let run_id = claimed.lease.invocation_id.clone();
        let (workflow, answers) = together.take(self, id, &run_id).await?;
        let event = claimed.event;
        claimed.event = match claimed.trigger {
            // Those of emitters are queued as their log has them.
            Trigger::Event => self.masked_event(&workflow.owner, event).await?,
            Trigger::Timer
            | Trigger::Http
            | Trigger::Manual
            | Trigger::Email
            | Trigger::Call
            | Trigger::Replay => self.kept_event(&workflow.owner, event).await?,
        };
        let mut head = Head::read(claimed.state.as_deref())
            .map_err(|error| PlatformError::Internal(error.to_string()))?;
        let deployment_id = head
            .deployment_id
            .get_or_insert(workflow.deployment_id.clone())
            .clone();
        let deployed = self
            .deployments
            .get(&*self.core.store, &workflow, &deployment_id)
            .await?;
        let definition = Arc::clone(&deployed.definition);
        let now_ms = self.core.env.now_ms();
        let (tree, blobs, logs) = self.tree(&head, definition, &run_id).await?;
        let is_new = !head.has_begun();
        let is_admitted = !is_new || begins_at_once(&deployed, &claimed);
        let was_paused = head.has_begun() && claimed.starts <= 1;
        head.pauses += u32::from(was_paused);
        let execution = match head.pauses {
            0 => run_id.clone(),
            _ => self.core.env.id(InvocationId::new),
        };
        if is_admitted {
            head.started_at_ms.get_or_insert(now_ms);
        }
        let mut run = LiveRun {
            execution,
            // One that waits to begin has no part in the ends of nodes.
            is_given_up: is_admitted && claimed.starts > NODES_LOST_MAX,
            claimed,
            head,
            tree,
            deployed,
            started_at_ms: now_ms,
            // The first step reads the large values that the run takes over: they have to be its own by then.
            is_dirty: !blobs.is_empty(),
            pending: Pending {
                blobs,
                ..Pending::default()
            },
            worker: None,
            committing: None,
            is_admitted,
            orders: Vec::new(),
            standing: State::Running,
            awaited: Awaited::default(),
            logs,
        };
        let is_of_step = |answer: &WaitResolution| answer.wait.path != Path::root().to_string();
        if is_new && is_admitted && answers.iter().any(is_of_step) {
            // The code of the first steps had its URLs before a commit, and the node died: the steps begin as they did then.
            run.advance(now_ms);
        }
        // An answer that was taken counts, even if its wait is over by the time that the run is read.
        run.resolve(answers, now_ms);
        run.tree.wake(now_ms);
        Ok(run)
    }

    /// The state that the run goes on from, blobs that it has to keep from now on, and the log lines of what goes on.
    async fn tree(
        &self,
        head: &Head,
        definition: Arc<Definition>,
        run_id: &InvocationId,
    ) -> Result<(RunTree, Vec<RunBlob>, StepLogs), PlatformError> {
        let mut logs = StepLogs::default();
        if head.has_begun() {
            let mut places = BTreeMap::new();
            for written in self.core.store.run_places(run_id).await? {
                let (path, place) = place_of(&written)?;
                if !place.status.is_final() {
                    logs.goes_on(path.clone(), &written);
                }
                places.insert(path, place);
            }
            let tree = RunTree::load(definition, head.root.clone(), places);
            return Ok((tree, Vec::new(), logs));
        }
        if let Some(ReplayOf {
            run_id: old,
            from: Some(from),
        }) = &head.replay
        {
            let (tree, blobs) = self.replayed(definition, old, from).await?;
            return Ok((tree, blobs, logs));
        }
        Ok((RunTree::new(definition), Vec::new(), logs))
    }

    /// The state that a replay begins with, and the blobs that it takes over. One that cannot begin any more, because the
    /// run that it repeats is not kept, ends at once.
    async fn replayed(
        &self,
        definition: Arc<Definition>,
        old: &InvocationId,
        from: &str,
    ) -> Result<(RunTree, Vec<RunBlob>), PlatformError> {
        let places = self.places(old).await?;
        let replay = match from.parse::<Path>() {
            Ok(from) => Replay::from_step(Arc::clone(&definition), &places, &from)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let tree = match replay {
            Ok(replay) => replay.tree,
            Err(reason) => {
                let mut tree = RunTree::new(definition);
                tree.cancel(&reason);
                return Ok((tree, Vec::new()));
            }
        };
        let mut blobs = Vec::new();
        for place in tree.places().values() {
            for blob in place.blobs() {
                let bytes = self.core.store.run_blob(old, &blob.hash).await?;
                blobs.extend(bytes.map(|bytes| RunBlob {
                    hash: blob.hash.clone(),
                    bytes,
                }));
            }
        }
        Ok((tree, blobs))
    }

    async fn places(&self, run_id: &InvocationId) -> Result<BTreeMap<Path, Place>, PlatformError> {
        let written = self.core.store.run_places(run_id).await?;
        written.iter().map(place_of).collect()
    }
}

/// Whether nothing has to be known before a run begins.
fn begins_at_once(deployed: &Deployed, claimed: &Claimed) -> bool {
    let trigger = claimed.trigger_id();
    let key = trigger.and_then(|trigger| deployed.idempotency_key(trigger));
    !is_limited(&deployed.definition.settings) && key.is_none()
}

/// A place as it was written.
pub(crate) fn place_of(written: &PlaceWrite) -> Result<(Path, Place), PlatformError> {
    let broken = |error: &dyn std::fmt::Display| {
        PlatformError::Internal(format!("place `{}`: {error}", written.path))
    };
    let path = written.path.parse().map_err(|error| broken(&error))?;
    let place = serde_json::from_str(written.body.get()).map_err(|error| broken(&error))?;
    Ok((path, place))
}

impl LiveRun {
    /// Takes in answers to its waits. Each is noted as applied, whatever it could still change.
    pub(super) fn resolve(
        &mut self,
        answers: Vec<WaitResolution>,
        now_ms: headwater_model::time::EpochMs,
    ) {
        for answer in answers {
            if self.pending.applied.contains(&answer.wait) {
                continue;
            }
            if answer.wait.path == Path::root().to_string() {
                self.tree.cancel(CANCELLED);
                // It needs no place to end.
                self.is_admitted = true;
            }
            let path = answer.wait.path.parse::<Path>();
            let resolution = serde_json::from_str::<Resolution>(answer.resolution.get());
            if let (Ok(path), Ok(resolution)) = (path, resolution) {
                self.tree
                    .resolve(&path, answer.wait.generation, resolution, now_ms);
            }
            self.pending.applied.push(answer.wait);
            self.is_dirty = true;
        }
    }
}
