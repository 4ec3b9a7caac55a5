//! Workflows: their deployments and runs, with steps whose code does what the test says.

mod admission;
mod blocks;
mod complaints;
mod emitted;
mod error_mails;
mod flow;
mod lacks;
mod limits;
mod linear;
mod lost_nodes;
mod props;
mod replay;
mod sends;
mod sources;

use std::{collections::BTreeMap, time::Duration};

use headwater_model::id::{InvocationId, WorkflowId};
use headwater_platform::{
    DeployWorkflow, DeployedWorkflow, PlatformError, UpdateWorkflow, WorkflowRunStatus,
    WorkflowRunView,
};
use serde_json::{Value, json};

use crate::{
    engine::{PATIENCE, Run},
    world::World,
};

/// A workflow's folder in the making.
pub(crate) struct Flow {
    yaml: String,
    state: Option<String>,
    /// Other files, by path.
    beside: BTreeMap<String, String>,
}

/// A step with the name of its code, and further lines of its entry in the file.
pub(crate) fn step(name: &str, more: &[&str]) -> String {
    let code = json!({ "name": name, "has_run": true, "props": [], "hooks": {} });
    let mut lines = vec![format!("- namespace: {name}"), format!("  code: '{code}'")];
    lines.extend(more.iter().map(|line| format!("  {line}")));
    lines.join("\n") + "\n"
}

/// The same lines further to the right.
pub(crate) fn indented(lines: &str, by: usize) -> String {
    let indent = " ".repeat(by);
    lines
        .lines()
        .map(|line| format!("{indent}{line}\n"))
        .collect()
}

impl Flow {
    /// A workflow of these steps.
    pub(crate) fn of(steps: &[String]) -> Self {
        Self::with("", steps)
    }

    /// A workflow with further top entries before its steps.
    pub(crate) fn with(head: &str, steps: &[String]) -> Self {
        let steps = steps.concat();
        Self {
            yaml: format!("schema: workflow/2022.04\nname: Flow\n{head}steps:\n{steps}"),
            state: None,
            beside: BTreeMap::new(),
        }
    }

    /// The workflow that another deployment has created.
    pub(crate) fn again(mut self, deployed: &DeployedWorkflow) -> Self {
        self.state = Some(deployed.state_file.clone());
        self
    }

    /// With another file.
    pub(crate) fn beside(mut self, path: &str, text: &str) -> Self {
        self.beside.insert(path.to_owned(), text.to_owned());
        self
    }

    pub(crate) async fn try_deploy(
        &self,
        world: &World,
    ) -> Result<DeployedWorkflow, PlatformError> {
        let mut files = BTreeMap::from([("workflow.yaml".to_owned(), self.yaml.clone())]);
        files.extend(self.beside.clone());
        files.extend(
            self.state
                .clone()
                .map(|state| (".workflow.state".to_owned(), state)),
        );
        let request = DeployWorkflow {
            files,
            workspace_id: None,
            lacks_accounts: false,
        };
        world.platform.deploy_workflow(&world.caller, request).await
    }

    pub(crate) async fn deploy(&self, world: &World) -> DeployedWorkflow {
        self.try_deploy(world).await.unwrap()
    }

    pub(crate) async fn id(&self, world: &World) -> WorkflowId {
        self.deploy(world).await.workflow.workflow.id
    }
}

impl World {
    pub(crate) async fn start_run(&self, id: &WorkflowId, event: Value) -> InvocationId {
        self.platform
            .run_workflow(&self.caller, id, Some(event))
            .await
            .unwrap()
    }

    pub(crate) async fn run_of(&self, id: &InvocationId) -> WorkflowRunView {
        self.platform.workflow_run(&self.caller, id).await.unwrap()
    }

    /// The next step that runs, which is this one.
    pub(crate) async fn step(&self, name: &str) -> Run {
        let run = self.engine.next().await;
        assert_eq!(run.name, name);
        run
    }

    /// The next steps that run, which are these: those that run beside each other begin in any order.
    pub(crate) async fn steps_beside<const N: usize>(&self, names: [&str; N]) -> [Run; N] {
        let mut runs = Vec::new();
        for _ in names {
            runs.push(self.engine.next().await);
        }
        names.map(|name| {
            let place = runs.iter().position(|run| run.name == name);
            runs.swap_remove(place.unwrap_or_else(|| panic!("{name} has not begun")))
        })
    }

    /// The run once it has come to this.
    pub(crate) async fn run_that(
        &self,
        id: &InvocationId,
        status: WorkflowRunStatus,
    ) -> WorkflowRunView {
        let looking = async {
            loop {
                let run = self.run_of(id).await;
                if run.run.status == status {
                    return run;
                }
                tokio::task::yield_now().await;
            }
        };
        let found = tokio::time::timeout(PATIENCE, looking).await;
        match found {
            Ok(run) => run,
            Err(_) => panic!("the run is {:?}, not {status:?}", self.run_of(id).await),
        }
    }

    pub(crate) async fn succeeded(&self, id: &InvocationId) -> WorkflowRunView {
        self.run_that(id, WorkflowRunStatus::Succeeded).await
    }

    /// Moves the clock on, and lets runs that are due go on.
    pub(crate) async fn later(&self, workflow: &WorkflowId, time: Duration) {
        self.clock.advance(u64::try_from(time.as_millis()).unwrap());
        let update = UpdateWorkflow { active: Some(true) };
        self.platform
            .update_workflow(&self.caller, workflow, update)
            .await
            .unwrap();
    }
}

/// The value that a step returned.
pub(crate) fn returned(run: &WorkflowRunView, path: &str) -> Value {
    let step = run.steps.iter().find(|step| step.path.to_string() == path);
    let step = step.unwrap_or_else(|| panic!("no step {path} in {run:?}"));
    let value = step
        .return_value
        .as_ref()
        .map(|value| serde_json::from_str(value.get()).unwrap());
    value.unwrap_or_default()
}

/// The paths of a run's steps and blocks, in the order in which they began.
pub(crate) fn paths(run: &WorkflowRunView) -> Vec<String> {
    run.steps.iter().map(|step| step.path.to_string()).collect()
}
