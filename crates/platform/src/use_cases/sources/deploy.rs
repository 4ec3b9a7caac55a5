//! Deploying and deleting: the beginning and the end of a source's life (docs/architecture.md, "A
//! source is deployed or updated").

use std::sync::Arc;

use headwater_engine::Hook;
use headwater_model::{component::slug, id::SourceId};
use headwater_store::{
    NewSource, NewSourceDeployment, Owner, SavedComponent, SettledSource, Source, SourceState,
};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    changes::Change,
    chore::Chore,
    error::PlatformError,
    platform::Platform,
    progress::{self, DeployPart},
    runner::{Closing, Reached},
    use_cases::sources::{DeploySource, SourceView, plan::Wanted},
};

/// Rows of a source that are deleted in one step.
const EMPTIED_AT_ONCE: u32 = 500;

impl Platform {
    /// Deploys a component as a new source (`POST /sources/`). Its endpoint answers before its hooks run;
    /// if a hook throws, the source is gone again, and so is its component if it was saved for it.
    ///
    /// # Errors
    /// `Invalid`, `InvalidProps`, or `Component` with the component's error.
    pub async fn deploy_source(
        self: &Arc<Self>,
        caller: &Caller,
        request: DeploySource,
    ) -> Result<SourceView, PlatformError> {
        let owner = self.owner(caller, request.workspace_id.clone()).await?;
        let kept = self
            .resolve_component(caller, &owner, &request.component)
            .await?;
        let deployed = self.deploy_component(caller, owner, &kept.component, request);
        let deployed = deployed.await;
        if deployed.is_err() {
            self.drop_component(&kept).await;
        }
        deployed
    }

    async fn deploy_component(
        self: &Arc<Self>,
        caller: &Caller,
        owner: Owner,
        component: &SavedComponent,
        request: DeploySource,
    ) -> Result<SourceView, PlatformError> {
        Self::check_source(component)?;
        let name = request.name.unwrap_or_default();
        let wanted = Wanted {
            component,
            owner: &owner,
            name: &name,
            is_isolated: request.is_isolated,
            values: request.configured_props.clone(),
            given: Some(&request.configured_props),
            former: None,
        };
        let spec = self.plan(caller, wanted).await?;
        let id = self.core.env.id(SourceId::new);
        let _turn = self.lifecycles.lock(&id.clone().into()).await;
        let new = NewSource {
            id,
            owner,
            slug: slug(&component.description.name),
            spec,
            now_at: self.core.env.now_at(),
        };
        let (source, lease) = self.core.store.begin_deploy(new, self.core.epoch).await?;
        self.leases.keep(lease);
        let mut reached = Reached::default();
        let deployment = self.new_deployment(caller, None);
        let deployed = self.deploy_hooks(&source, component, deployment, &mut reached);
        match deployed.await {
            Ok(source) => {
                let act = Act::on_source(AuditAction::SourceDeploy, &source);
                self.record(caller, told_of(act, component)).await;
                Ok(SourceView::new(self, source).of_component(component))
            }
            Err(error) => {
                let undone = self.undo_deploy(&source, component, reached.is_taken_back());
                if let Err(error) = undone.await {
                    tracing::error!(source_id = %source.id, %error, "a failed deployment is cleaned up later");
                }
                Err(error)
            }
        }
    }

    async fn deploy_hooks(
        self: &Arc<Self>,
        source: &Source,
        component: &SavedComponent,
        deployment: NewSourceDeployment,
        reached: &mut Reached,
    ) -> Result<Source, PlatformError> {
        progress::begins(DeployPart::Load);
        let loaded = self.runners.load(source.clone(), component.clone()).await?;
        let runner = self.runners.open(&source.id, loaded);
        for hook in [Hook::Deploy, Hook::Activate] {
            reached.begins(hook);
            progress::begins_hook(hook, component.description.hooks);
            let ended = runner.call_hook(hook, true).await?;
            reached.ended(hook, &ended);
            ended.verdict(hook)?;
        }
        let lease = self.leases.of(&source.id.clone().into()).await?;
        let (spec, now_ms) = (source.spec.clone(), self.core.env.now_ms());
        let settled = SettledSource {
            deployment: Some(deployment),
            ..SettledSource::new(lease, spec, true, now_ms)
        };
        let source = runner.settle(settled).await?;
        self.core.nudges.nudge(Chore::Timers);
        self.core.nudges.nudge(Chore::Dispatch);
        self.core.tell(Change::of_source(&source));
        Ok(source)
    }

    /// Deletes the source of a failed deployment; before that, if wanted, takes back registrations of
    /// its hooks outside.
    pub(super) async fn undo_deploy(
        self: &Arc<Self>,
        source: &Source,
        component: &SavedComponent,
        is_taken_back: bool,
    ) -> Result<(), PlatformError> {
        if is_taken_back
            && let Ok(loaded) = self.runners.load(source.clone(), component.clone()).await
        {
            let deactivated = self
                .runners
                .open(&source.id, loaded)
                .hook(Hook::Deactivate, false)
                .await;
            if let Err(error) = deactivated {
                tracing::warn!(source_id = %source.id, %error, "`deactivate` after a failed deployment");
            }
        }
        self.remove(source).await
    }

    /// Runs `deactivate` and deletes the source with everything it has (`DELETE /sources/{id}`),
    /// even if the hook throws.
    pub async fn delete_source(
        self: &Arc<Self>,
        caller: &Caller,
        id: &SourceId,
    ) -> Result<(), PlatformError> {
        self.visible_source(caller, id).await?;
        let _turn = self.lifecycles.lock(&id.clone().into()).await;
        let source = self.visible_source(caller, id).await?;
        self.begin_deletion(&source).await?;
        self.record(caller, Act::on_source(AuditAction::SourceDelete, &source))
            .await;
        self.finish_deletion(&source).await
    }

    /// Deletes a source that whatever it belonged to has left behind. One that is gone, or going, is left alone.
    pub(crate) async fn delete_left_source(
        self: &Arc<Self>,
        id: &SourceId,
    ) -> Result<(), PlatformError> {
        let _turn = self.lifecycles.lock(&id.clone().into()).await;
        match self.core.store.source(id).await? {
            Some(source) if source.state != SourceState::Deleting => {
                self.begin_deletion(&source).await?;
                self.finish_deletion(&source).await
            }
            Some(_) | None => Ok(()),
        }
    }

    /// From here on it is not shown any more, though deleting what it has may take a while.
    async fn begin_deletion(&self, source: &Source) -> Result<(), PlatformError> {
        let lease = self.leases.of(&source.id.clone().into()).await?;
        self.core
            .store
            .set_source_state(&lease, SourceState::Deleting)
            .await?;
        self.core.tell(Change::of_source(source));
        Ok(())
    }

    /// The rest of a deletion that has been decided.
    pub(super) async fn finish_deletion(
        self: &Arc<Self>,
        source: &Source,
    ) -> Result<(), PlatformError> {
        if source.state != SourceState::Inactive
            && let Err(error) = self.deactivate_for_good(source).await
        {
            tracing::warn!(source_id = %source.id, %error, "`deactivate` failed; the source is deleted anyway");
        }
        // Nothing is queued any more for a source that is being deleted, and nobody waits for the
        // queued work.
        self.runners.close(&source.id, Closing::Ended).await;
        self.empty(&source.id).await?;
        self.pass_on_the_last(&source.id).await?;
        self.remove(source).await
    }

    /// Deletes large sets in steps, so that everybody else is served in between.
    async fn empty(&self, id: &SourceId) -> Result<(), PlatformError> {
        let lease = self.leases.of(&id.clone().into()).await?;
        let store = &self.core.store;
        while store.empty_source(&lease, EMPTIED_AT_ONCE).await?.more {}
        Ok(())
    }

    /// The last events of a source reach its listeners before its subscriptions go with it.
    async fn pass_on_the_last(self: &Arc<Self>, id: &SourceId) -> Result<(), PlatformError> {
        let emitter = id.clone().into();
        while self.core.store.awaits_dispatch(&emitter).await? {
            self.dispatch_step().await?;
        }
        Ok(())
    }

    async fn deactivate_for_good(self: &Arc<Self>, source: &Source) -> Result<(), PlatformError> {
        let component = self.core.component_of(source).await?;
        let loaded = self.runners.load(source.clone(), component).await?;
        let runner = self.runners.open(&source.id, loaded);
        runner.pause().await;
        let deactivated = runner.hook(Hook::Deactivate, false).await;
        // Waits until the effects of the hook are committed.
        runner.pause().await;
        deactivated
    }

    async fn remove(&self, source: &Source) -> Result<(), PlatformError> {
        let id = &source.id;
        self.runners.close(id, Closing::Ended).await;
        self.core.engine.evict(&id.clone().into()).await;
        self.empty(id).await?;
        let runnable = id.clone().into();
        let lease = self.leases.of(&runnable).await?;
        self.core.store.delete_source(&lease).await?;
        self.leases.forget(&runnable);
        self.feeds.end(&id.clone().into());
        self.core.tell(Change::of_source(source));
        Ok(())
    }
}

/// An act with the code that a source runs from then on.
pub(super) fn told_of(act: Act, component: &SavedComponent) -> Act {
    let described = &component.description;
    let act = act.with("component_id", component.id.as_str());
    let act = act.with_some("component_key", described.key.as_deref());
    act.with_some("component_version", described.version.as_deref())
}
