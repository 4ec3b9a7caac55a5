//! Deploying, switching and deleting workflows. A deployment is all or nothing, and never changes afterwards.

use std::sync::Arc;

use headwater_model::{
    component::slug,
    id::{DeploymentId, RunnableId, WorkflowId},
};
use headwater_store::{Deployment, Owner, StoreError, Workflow, WorkflowDeploy};
use headwater_workflow::definition::Settings;
use serde_json::value::to_raw_value;

use super::{
    DeployWorkflow, DeployedWorkflow, UpdateWorkflow, WorkflowView, code::StepCodes,
    folder::Folder, lacks::new_addresses,
};
use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    changes::Change,
    chore::Chore,
    error::PlatformError,
    platform::Platform,
    workflows::{Content, bounds},
};

/// Rows of a workflow that are deleted in one step.
const EMPTIED_AT_ONCE: u32 = 500;

impl Platform {
    /// Deploys a folder: as a new workflow, or as the new deployment of the one that its state file names. Runs that have
    /// begun go on with theirs.
    ///
    /// # Errors
    /// `Invalid` naming the file and place, those of builds and of sources. Nothing is deployed then.
    pub async fn deploy_workflow(
        self: &Arc<Self>,
        caller: &Caller,
        request: DeployWorkflow,
    ) -> Result<DeployedWorkflow, PlatformError> {
        let mut folder = Folder::read(request.files)?;
        folder.lacks_accounts = request.lacks_accounts;
        let id = folder.state.id.clone();
        let id = id.unwrap_or_else(|| self.core.env.id(WorkflowId::new));
        let _turn = self.lifecycles.lock(&id.clone().into()).await;
        let current = self.core.store.workflow(&id).await?;
        let current = match current {
            Some(_) => Some(self.visible_workflow(caller, &id).await?),
            None => None,
        };
        let owner = match &current {
            Some(current) => current.owner.clone(),
            None => self.owner(caller, request.workspace_id).await?,
        };
        if current.is_none() {
            let new = new_addresses(&folder);
            folder.findings.extend(new);
        }
        folder.state.id = Some(id.clone());
        // Deploys sources in turn: too much for the stacks of callers.
        Box::pin(self.deploy_folder(caller, folder, (id, owner, current))).await
    }

    pub(super) async fn deploy_folder(
        self: &Arc<Self>,
        caller: &Caller,
        mut folder: Folder,
        (id, owner, current): (WorkflowId, Owner, Option<Workflow>),
    ) -> Result<DeployedWorkflow, PlatformError> {
        self.check_memory(&folder.definition.settings)?;
        let former = self.current_content(current.as_ref()).await?;
        let codes = StepCodes {
            caller,
            owner: &owner,
            files: &folder.files,
            former: former.as_ref(),
            restored: folder.restores.as_ref().map(|restored| &restored.content),
            lacks_accounts: folder.lacks_accounts,
            is_kept: true,
        };
        let definition = &folder.definition;
        let steps = self
            .step_components(definition, &codes, &mut folder.findings)
            .await?;
        folder.findings.extend(self.lacks(&folder, &owner).await?);
        let definition = &folder.definition;
        let triggers = self.trigger_ids(definition, &mut folder.state);
        let workspace_id = owner.workspace_id.as_ref();
        let sources = self
            .owned_sources(caller, &folder, &triggers, former.as_ref(), workspace_id)
            .await?;
        let content = Content {
            files: Arc::clone(&folder.files),
            steps,
            triggers,
            sources: sources.by_trigger.clone(),
            restores: folder.restores.as_ref().map(|restored| restored.id.clone()),
        };
        let deployed = self
            .store_deployment(caller, &folder, (id, owner), &content)
            .await;
        let workflow = match deployed {
            Ok(workflow) => workflow,
            Err(error) => {
                self.take_back_sources(caller, &sources).await;
                return Err(error);
            }
        };
        let deployment = workflow.deployment_id.as_str();
        let act = match &folder.restores {
            Some(restored) => Act::on_workflow(AuditAction::WorkflowRollBack, &workflow)
                .with("restored_id", restored.id.as_str()),
            None => Act::on_workflow(AuditAction::WorkflowDeploy, &workflow),
        };
        self.record(caller, act.with("deployment_id", deployment))
            .await;
        self.drop_left_sources(caller, &sources).await;
        Ok(DeployedWorkflow {
            workflow: self.workflow_view(workflow).await?,
            state_file: folder.state.to_string(),
            findings: folder.findings,
        })
    }

    /// Refuses a workflow whose workers would need more memory than the node gives.
    pub(super) fn check_memory(&self, settings: &Settings) -> Result<(), PlatformError> {
        let most = self.core.config.workflow_memory_max_mib;
        match settings.memory_mb {
            Some(mib) if mib > most => Err(PlatformError::invalid(
                "settings.lambda_memory",
                format!(
                    "is {mib}, and workflows of this node may have {most} at most; lower it, or start the node \
                     with a higher --workflow-memory-max-mib"
                ),
            )),
            Some(_) | None => Ok(()),
        }
    }

    async fn store_deployment(
        &self,
        caller: &Caller,
        folder: &Folder,
        (id, owner): (WorkflowId, Owner),
        content: &Content,
    ) -> Result<Workflow, PlatformError> {
        let definition = &folder.definition;
        let planned = self
            .planned_triggers(caller, &id, definition, &content.triggers, &content.sources)
            .await?;
        let text =
            to_raw_value(content).map_err(|error| PlatformError::Internal(error.to_string()))?;
        let deploy = WorkflowDeploy {
            deployment: Deployment {
                id: self.core.env.id(DeploymentId::new),
                workflow_id: id.clone(),
                content: text,
                created_at_ms: self.core.env.now_ms(),
            },
            owner,
            name: definition.name.clone(),
            slug: slug(&definition.name),
            is_active: match &folder.restores {
                Some(restored) => restored.is_active,
                None => definition.is_active,
            },
            endpoints: planned.endpoints,
            timers: planned.timers,
            feeds: planned.feeds,
            bounds: bounds(&definition.settings),
        };
        let workflow = self.core.store.deploy_workflow(deploy).await?;
        self.changed(&workflow);
        Ok(workflow)
    }

    /// Lets everything that remembers the workflow look again.
    fn changed(&self, workflow: &Workflow) {
        let id = &workflow.id;
        self.core.tell(Change::of_workflow(workflow));
        self.endpoints.forget(&id.clone().into());
        self.workflows.deployed(id);
        for chore in [Chore::Timers, Chore::Dispatch, Chore::Queue] {
            self.core.nudges.nudge(chore);
        }
    }

    async fn current_content(
        &self,
        workflow: Option<&Workflow>,
    ) -> Result<Option<Content>, PlatformError> {
        let Some(workflow) = workflow else {
            return Ok(None);
        };
        let deployment = self.core.store.deployment(&workflow.deployment_id).await?;
        deployment.as_ref().map(Content::of).transpose()
    }

    /// Turns a workflow's triggers on or off (`PATCH /workflows/{id}`). Runs that have begun go on.
    pub async fn update_workflow(
        &self,
        caller: &Caller,
        id: &WorkflowId,
        update: UpdateWorkflow,
    ) -> Result<WorkflowView, PlatformError> {
        let workflow = self.visible_workflow(caller, id).await?;
        if let Some(is_active) = update.active {
            let _turn = self.lifecycles.lock(&id.clone().into()).await;
            let now_ms = self.core.env.now_ms();
            if !self
                .core
                .store
                .set_workflow_active(id, is_active, now_ms)
                .await?
            {
                return Err(PlatformError::not_found("workflow", id));
            }
            self.changed(&workflow);
            let action = match is_active {
                true => AuditAction::WorkflowActivate,
                false => AuditAction::WorkflowDeactivate,
            };
            self.record(caller, Act::on_workflow(action, &workflow))
                .await;
        }
        self.workflow(caller, id).await
    }

    /// Deletes a workflow with its deployments, runs and events, and the sources that it deployed. Runs that have not ended
    /// end without a trace.
    pub async fn delete_workflow(
        self: &Arc<Self>,
        caller: &Caller,
        id: &WorkflowId,
    ) -> Result<(), PlatformError> {
        self.visible_workflow(caller, id).await?;
        let _turn = self.lifecycles.lock(&id.clone().into()).await;
        let workflow = self.visible_workflow(caller, id).await?;
        self.core.store.begin_workflow_deletion(id).await?;
        self.changed(&workflow);
        // It is gone for everybody; the chore of leftovers goes on if the rest fails.
        let act = Act::on_workflow(AuditAction::WorkflowDelete, &workflow);
        self.record(caller, act).await;
        self.finish_workflow_deletion(id, Some(caller)).await
    }

    /// Goes on with deletions that failed half-way, or whose node died. Returns how many have ended.
    pub(crate) async fn finish_workflow_deletions(self: &Arc<Self>) -> Result<u64, StoreError> {
        let (epoch, now_ms) = (self.core.epoch, self.core.env.now_ms());
        let store = &self.core.store;
        let deleting = store.deleting_workflows(epoch, now_ms, EMPTIED_AT_ONCE);
        let mut ended = 0;
        for id in &deleting.await? {
            // One that is under way goes on by itself.
            let Some(_turn) = self.lifecycles.try_lock(&id.clone().into()) else {
                continue;
            };
            if store.workflow(id).await?.is_none() {
                continue;
            }
            match self.finish_workflow_deletion(id, None).await {
                Ok(()) => ended += 1,
                Err(error) => {
                    tracing::error!(workflow_id = %id, %error, "a workflow cannot be deleted yet");
                }
            }
        }
        Ok(ended)
    }

    /// The rest of a deletion that has been decided, by that caller or earlier. The sources go first: the deployments
    /// name them.
    async fn finish_workflow_deletion(
        self: &Arc<Self>,
        id: &WorkflowId,
        caller: Option<&Caller>,
    ) -> Result<(), PlatformError> {
        self.workflows.close(id).await;
        self.workflows.deleted(id);
        let runnable = RunnableId::from(id.clone());
        let lease = self.leases.of(&runnable).await?;
        let sources = self.deployed_sources(id).await?;
        // Boxed: every request has room for it.
        Box::pin(self.delete_sources(caller, sources)).await?;
        while self
            .core
            .store
            .empty_workflow(&lease, EMPTIED_AT_ONCE)
            .await?
            .more
        {}
        self.core.store.delete_workflow(&lease).await?;
        self.leases.forget(&runnable);
        self.core.nudges.nudge(Chore::Retention);
        Ok(())
    }
}
