//! A test that runs: its workflow is deployed on a node of its own, one run begins, and the clock moves on whenever the run
//! waits. In a trial with a kill, the node ends after one of its commits, and another goes on from the store.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use headwater_model::endpoint::EndpointToken;
use headwater_model::id::{InvocationId, WorkflowId};
use headwater_model::page::PageRequest;
use headwater_model::time::EpochMs;
use headwater_platform::{
    Caller, Clock as _, DeployWorkflow, Ingress, IngressRequest, Platform, PlatformError,
    ResumeRequest, RunsFilter, WaitView, WorkflowRunStatus, WorkflowRunView,
};
use headwater_workflow::definition::Definition;
use headwater_workflow::run::WaitKind;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use super::calls::Calls;
use super::case::{Case, Resume};
use super::clock::TestClock;
use super::engine::Scene;
use super::found::Found;
use super::marks::Marks;
use super::network::Network;
use super::node::Node;
use super::staging::staged;
use super::workers::Workers;
use crate::workflow::folder::Folder;

/// The time between two looks at the run.
const LOOK_EVERY: Duration = Duration::from_millis(3);

/// The things that all trials share.
pub(super) struct Stage {
    pub(super) folder: Folder,
    pub(super) definition: Definition,
    pub(super) workers: Arc<Workers>,
    pub(super) network: Arc<Network>,
}

/// A trial that has ended.
pub(super) struct Trial {
    pub(super) found: Found,
    /// The commits of its run.
    pub(super) commits: u64,
    /// Whether its node was killed; not if it had no such commit.
    pub(super) was_killed: bool,
    /// The moments on the clock of the test at which it began and ended.
    pub(super) span: RangeInclusive<EpochMs>,
    /// Steps that began, and whose action did not run because nothing mocks it.
    pub(super) left_out: Vec<String>,
    /// The requests of steps that no mock answered.
    pub(super) unexpected: Vec<String>,
}

/// A run that has begun.
#[derive(Clone)]
struct Begun {
    workflow: WorkflowId,
    run: InvocationId,
}

impl Stage {
    /// Runs a test that begins at a moment; with a kill after the commit of that number.
    ///
    /// # Errors
    /// The test cannot run at all: the workflow is not deployed, for example.
    pub(super) async fn run(
        &self,
        case: &Case,
        began_ms: EpochMs,
        kill_after: Option<u64>,
    ) -> Result<Trial> {
        self.network.set(case.http.as_deref().unwrap_or_default());
        let scene = Arc::new(Scene {
            staged: staged(&self.folder, &self.definition, case)?,
            case: case.clone(),
            calls: Calls::default(),
            clock: TestClock::at(began_ms),
        });
        let dir = tempfile::tempdir().context("cannot create a folder for the test's store")?;
        let trial = Box::pin(self.run_in(dir.path(), &scene, kill_after)).await;
        self.workers.end_all().await;
        trial
    }

    async fn run_in(
        &self,
        dir: &FilePath,
        scene: &Arc<Scene>,
        kill_after: Option<u64>,
    ) -> Result<Trial> {
        let node = Node::start(dir, &self.workers, scene, kill_after).await?;
        let (begun, response) = begin(&node, scene).await?;
        let mut commits = node.store.run_commits().written();
        let is_over = |written: &u64| kill_after.is_some_and(|last| *written >= last);
        let ended = tokio::select! {
            biased;
            _ = commits.wait_for(is_over) => None,
            ended = follow(&node, scene, &begun) => Some(ended?),
        };
        let was_killed = ended.is_none();
        let (node, run, response) = match ended {
            Some(run) => (node, run, response.map(answer)),
            None => {
                let node = self.killed(node, (dir, scene), &begun).await?;
                let run = follow(&node, scene, &begun).await?;
                // The connection that waited for the response is lost.
                (node, run, None)
            }
        };
        let response = match response {
            Some(response) => Some(response.await?),
            None => None,
        };
        let written = *commits.borrow();
        node.kill().await;
        let marks = Marks(&scene.case.variables);
        let mut found = Found::of(&self.definition, &run, scene.calls.all(), marks);
        found.response = response;
        let left_out = scene
            .staged
            .left_out
            .iter()
            .filter(|namespace| !found.calls_of(namespace).is_empty());
        Ok(Trial {
            left_out: left_out.cloned().collect(),
            found,
            commits: written,
            was_killed,
            span: scene.clock.began_ms()..=scene.clock.now_ms(),
            unexpected: self.network.unexpected(),
        })
    }

    /// Kills a node with its workers, and starts another one on what it has stored.
    async fn killed(
        &self,
        node: Node,
        (dir, scene): (&FilePath, &Arc<Scene>),
        begun: &Begun,
    ) -> Result<Node> {
        let (platform, caller, id) = (
            Arc::clone(&node.platform),
            node.caller.clone(),
            begun.run.clone(),
        );
        // Nothing is stored any more, and the next node has not changed anything yet.
        let left = async move { Ok(platform.workflow_run(&caller, &id).await?) };
        let left = node.within(left).await?;
        node.kill().await;
        self.workers.end_all().await;
        scene.calls.go_on_from(&left);
        self.network.go_on();
        Node::start(dir, &self.workers, scene, None).await
    }
}

type Asked = JoinHandle<Result<Ingress>>;

/// Deploys the workflow and begins its run: as a request if its response matters, otherwise by hand.
async fn begin(node: &Node, scene: &Arc<Scene>) -> Result<(Begun, Option<Asked>)> {
    let (platform, caller, scene) = (
        Arc::clone(&node.platform),
        node.caller.clone(),
        Arc::clone(scene),
    );
    node.within(async move {
        for (name, value) in &scene.case.variables {
            platform.set_variable(&caller, None, name, value).await?;
        }
        let request = DeployWorkflow {
            files: scene.staged.files.clone(),
            workspace_id: None,
            lacks_accounts: true,
        };
        let deployed = platform.deploy_workflow(&caller, request).await?;
        let workflow = deployed.workflow.workflow.id.clone();
        if scene.case.expect.response.is_none() {
            let event = Some(scene.case.event.clone());
            let run = platform.run_workflow(&caller, &workflow, event).await?;
            return Ok((Begun { workflow, run }, None));
        }
        let url = deployed
            .workflow
            .triggers
            .iter()
            .find_map(|trigger| trigger.endpoint_url.as_deref());
        let token = url
            .and_then(|url| url.rsplit('/').next())
            .unwrap_or_default();
        let request = IngressRequest {
            token: EndpointToken::new(token),
            event: to_raw_value(&scene.case.event)?,
            uploads: Vec::new(),
        };
        let asked = tokio::spawn({
            let platform = Arc::clone(&platform);
            async move { Ok(platform.ingress(request).await?) }
        });
        match first_run(&platform, &caller, &workflow, &asked).await? {
            Some(run) => Ok((Begun { workflow, run }, Some(asked))),
            None => Err(without_run(asked).await),
        }
    })
    .await
}

/// The only run of the workflow, as soon as it is there. `None` if the request has been answered, and there is none.
async fn first_run(
    platform: &Platform,
    caller: &Caller,
    workflow: &WorkflowId,
    asked: &Asked,
) -> Result<Option<InvocationId>> {
    loop {
        // Before the look: the run is stored before the request is answered.
        let is_answered = asked.is_finished();
        for filter in [RunsFilter::Open, RunsFilter::Ended] {
            let page = PageRequest::first(1);
            let runs = platform
                .workflow_runs(caller, workflow, filter, page)
                .await?;
            if let Some(run) = runs.items.first() {
                return Ok(Some(run.id.clone()));
            }
        }
        if is_answered {
            return Ok(None);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The reason why a request began no run.
async fn without_run(asked: Asked) -> anyhow::Error {
    match answer(asked).await {
        Ok(answer) => anyhow!(
            "event: the request began no run, and was answered with {answer}; `x-pd-notrigger` among its headers or in its query asks for that"
        ),
        Err(error) => error.context("event: the request was refused"),
    }
}

/// The response of a request as tests expect it: `{status, headers, body}`.
async fn answer(asked: Asked) -> Result<Value> {
    let ingress = asked.await.context("the node of the test has ended")??;
    Ok(match ingress {
        Ingress::Responded(response) => {
            let headers = response.headers.into_iter();
            let headers: Map<String, Value> = headers
                .map(|(name, value)| (name.to_lowercase(), value.into()))
                .collect();
            let body = serde_json::from_slice(&response.body).unwrap_or_else(|_| {
                Value::from(String::from_utf8_lossy(&response.body).into_owned())
            });
            json!({ "status": response.status, "headers": headers, "body": body })
        }
        Ingress::NoWorkflowResponse(reason) => json!({ "status": 400, "body": reason }),
        Ingress::Unauthorized => json!({ "status": 401 }),
        Ingress::TimedOut => json!({ "status": 504 }),
        Ingress::Accepted | Ingress::AcceptedByWorkflow | Ingress::NoResponse | Ingress::Threw => {
            json!({ "status": 200 })
        }
    })
}

/// Follows a run to its end, or until nothing can go on in it, and moves the clock whenever it waits.
async fn follow(node: &Node, scene: &Arc<Scene>, begun: &Begun) -> Result<WorkflowRunView> {
    let follower = Follower {
        platform: Arc::clone(&node.platform),
        caller: node.caller.clone(),
        scene: Arc::clone(scene),
        begun: begun.clone(),
        answered: HashSet::new(),
    };
    node.within(follower.follow()).await
}

struct Follower {
    platform: Arc<Platform>,
    caller: Caller,
    scene: Arc<Scene>,
    begun: Begun,
    /// The URLs of waits that were answered; the run may not have gone on yet.
    answered: HashSet<String>,
}

impl Follower {
    async fn follow(mut self) -> Result<WorkflowRunView> {
        loop {
            let run = self
                .platform
                .workflow_run(&self.caller, &self.begun.run)
                .await?;
            match run.run.status {
                WorkflowRunStatus::Succeeded
                | WorkflowRunStatus::Failed
                | WorkflowRunStatus::Cancelled => return Ok(run),
                WorkflowRunStatus::Waiting
                    if !self.goes_on(&run) && !self.move_on(&run).await? =>
                {
                    return Ok(run);
                }
                WorkflowRunStatus::Waiting | WorkflowRunStatus::Queued => {}
                WorkflowRunStatus::Running => self.give_turn().await?,
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Gives a stand-in its turn, if nothing else is at work.
    async fn give_turn(&self) -> Result<()> {
        let waited = self.scene.calls.waiting();
        if !waited.is_empty() {
            let run = &self.begun.run;
            let at_work = self
                .platform
                .workflow_run_at_work(&self.caller, run)
                .await?;
            self.scene.calls.give_turn(&waited, &at_work);
        }
        Ok(())
    }

    /// Whether the run has been answered and is about to go on.
    fn goes_on(&self, run: &WorkflowRunView) -> bool {
        run.waits
            .iter()
            .any(|wait| self.answered.contains(&wait.urls.resume))
    }

    /// Moves the clock to the next moment at which the run can go on, if there is one.
    async fn move_on(&mut self, run: &WorkflowRunView) -> Result<bool> {
        self.scene.calls.rest();
        let ends = run.waits.iter().filter_map(|wait| wait.expires_at_ms).min();
        let answers = run
            .waits
            .iter()
            .filter_map(|wait| Some((self.resume_of(run, wait)?, wait)));
        let answer = answers.min_by_key(|((moment, _), _)| *moment);
        match (answer, ends) {
            (Some(((moment, resume), wait)), ends) if ends.is_none_or(|end| moment <= end) => {
                self.scene.clock.move_to(moment);
                self.answered.insert(wait.urls.resume.clone());
                let request = ResumeRequest {
                    path: Some(wait.path.to_string()),
                    data: Some(resume.data),
                    runs_again: false,
                };
                let resumed = self
                    .platform
                    .resume_run(&self.caller, &self.begun.run, &request)
                    .await;
                match resumed {
                    // The answer that a killed node has stored is there already.
                    Ok(_) | Err(PlatformError::Conflict(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            (_, Some(end)) => {
                self.scene.clock.move_to(end);
                self.platform.workflow_is_due(&self.begun.workflow);
            }
            (_, None) if run.waits.iter().any(|wait| wait.kind == WaitKind::Call) => {
                bail!(
                    "the run waits for a workflow that it calls, which no test does; mock the block `call`"
                )
            }
            (_, None) => return Ok(false),
        }
        Ok(true)
    }

    /// The answer that the test has for a wait, and its moment.
    fn resume_of(&self, run: &WorkflowRunView, wait: &WaitView) -> Option<(EpochMs, Resume)> {
        if matches!(wait.kind, WaitKind::Retry | WaitKind::Call) {
            return None;
        }
        let namespace = wait.path.name()?;
        let mocks = self.scene.case.mocks.get(namespace)?;
        let (began_ms, index) = match self.scene.calls.last_at(&wait.path) {
            Some((call, index)) => (call.began_ms, index),
            None => {
                let mut places = run.steps.iter().filter(|step| step.namespace == namespace);
                let index = places.clone().position(|step| step.path == wait.path)?;
                (
                    places.find(|step| step.path == wait.path)?.started_at_ms,
                    index,
                )
            }
        };
        let mock = mocks.get(index).or(mocks.last())?;
        let resume = mock.resume.clone()?;
        Some((began_ms + resume.after, resume))
    }
}
