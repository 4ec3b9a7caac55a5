//! Updating, pausing and resuming a source. The id and the endpoints never change.

use std::sync::Arc;

use headwater_engine::Hook;
use headwater_model::id::SourceId;
use headwater_store::{
    NewSourceDeployment, SavedComponent, SettledSource, Source, SourceSpec, SourceState,
};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    changes::Change,
    chore::Chore,
    error::PlatformError,
    platform::Platform,
    progress::{self, DeployPart},
    runner::Closing,
    use_cases::{
        components::KeptComponent,
        sources::{SourceView, UpdateSource, deploy::told_of, plan::Wanted},
    },
};

/// The target of an update.
pub(super) struct Target {
    pub(super) component: SavedComponent,
    pub(super) spec: SourceSpec,
    pub(super) active: bool,
    /// The deployment that it is, if code, props or isolation differ, so that the worker must be a fresh one.
    pub(super) deployment: Option<NewSourceDeployment>,
}

impl Platform {
    /// Changes a source (`PUT`, `PATCH /sources/{id}`): `deactivate`, swap, `activate`. If building or
    /// `activate` fails, the former version runs again.
    ///
    /// # Errors
    /// As for deploying; the source is as it was.
    pub async fn update_source(
        self: &Arc<Self>,
        caller: &Caller,
        id: &SourceId,
        request: UpdateSource,
    ) -> Result<SourceView, PlatformError> {
        if request
            .name
            .as_deref()
            .is_some_and(|name| name.trim().is_empty())
        {
            let reason = "must not be empty; leave it out to keep the name";
            return Err(PlatformError::invalid("name", reason));
        }
        self.visible_source(caller, id).await?;
        let _turn = self.lifecycles.lock(&id.clone().into()).await;
        let former = self.visible_source(caller, id).await?;
        let kept = self.updated_component(caller, &former, &request).await?;
        let updated = self.update_to(caller, former, &kept, &request).await;
        if updated.is_err() {
            self.drop_component(&kept).await;
        }
        updated
    }

    async fn update_to(
        self: &Arc<Self>,
        caller: &Caller,
        former: Source,
        kept: &KeptComponent,
        request: &UpdateSource,
    ) -> Result<SourceView, PlatformError> {
        let component = kept.component.clone();
        let target = self.target(caller, &former, component, request).await?;
        let acts = acts(&former, &target, request);
        let changed = self.change(former, target).await?;
        for act in acts {
            self.record(caller, act).await;
        }
        Ok(changed)
    }

    /// Changes a source whose turn at a change this is.
    pub(super) async fn change(
        self: &Arc<Self>,
        former: Source,
        target: Target,
    ) -> Result<SourceView, PlatformError> {
        let id = &former.id;
        let was_active = former.state != SourceState::Inactive;
        if target.deployment.is_none() && was_active == target.active {
            return self.rename(former, &target.spec.name).await;
        }
        let lease = self.leases.of(&id.clone().into()).await?;
        // Without hooks to run there is nothing that a dead node could leave half done.
        if was_active || target.active {
            self.core
                .store
                .set_source_state(&lease, SourceState::Updating)
                .await?;
        }
        let changed = self.swap(&former, &target).await;
        if changed.is_err() {
            self.restore(&former).await;
        }
        self.core.nudges.nudge(Chore::Timers);
        self.core.nudges.nudge(Chore::Dispatch);
        self.core.tell(Change::of_source(&former));
        Ok(SourceView::new(self, changed?).of_component(&target.component))
    }

    /// The component that a source is to have: its own, the same with other packages, or another.
    async fn updated_component(
        &self,
        caller: &Caller,
        former: &Source,
        request: &UpdateSource,
    ) -> Result<KeptComponent, PlatformError> {
        match (request.component.is_empty(), request.refresh_deps) {
            (true, false) => Ok(KeptComponent {
                component: self.core.component_of(former).await?,
                is_new: false,
            }),
            (true, true) => {
                let component = self.core.component_of(former).await?;
                self.refreshed_component(&former.owner, component).await
            }
            (false, false) => {
                self.resolve_component(caller, &former.owner, &request.component)
                    .await
            }
            (false, true) => {
                let reason = "is only for the source's present code; leave `component_*` out";
                Err(PlatformError::invalid("refresh_deps", reason))
            }
        }
    }

    async fn target(
        self: &Arc<Self>,
        caller: &Caller,
        former: &Source,
        component: SavedComponent,
        request: &UpdateSource,
    ) -> Result<Target, PlatformError> {
        Self::check_source(&component)?;
        let name = request.name.as_deref().unwrap_or(&former.spec.name);
        let given = request.configured_props.as_ref();
        let is_isolated = request.is_isolated.unwrap_or(former.spec.is_isolated);
        let replans = component.id != former.spec.component_id || given.is_some();
        let spec = match replans {
            true => {
                let wanted = Wanted {
                    component: &component,
                    owner: &former.owner,
                    name,
                    is_isolated,
                    values: self.merged_props(former, given)?,
                    given,
                    former: Some(former),
                };
                self.plan(caller, wanted).await?
            }
            // A source whose account is gone, or is another member's, can be renamed and paused all the same.
            false => SourceSpec {
                name: name.to_owned(),
                is_isolated,
                ..former.spec.clone()
            },
        };
        Ok(Target {
            deployment: (replans || is_isolated != former.spec.is_isolated)
                .then(|| self.new_deployment(caller, None)),
            active: request
                .active
                .unwrap_or(former.state != SourceState::Inactive),
            component,
            spec,
        })
    }

    async fn rename(&self, mut source: Source, name: &str) -> Result<SourceView, PlatformError> {
        if source.spec.name != name {
            let now_at = self.core.env.now_at();
            self.core
                .store
                .rename_source(&source.id, name, now_at)
                .await?;
            source.spec.name = name.to_owned();
            source.updated_at = now_at;
            self.core.tell(Change::of_source(&source));
        }
        Ok(SourceView::new(self, source))
    }

    async fn swap(
        self: &Arc<Self>,
        former: &Source,
        target: &Target,
    ) -> Result<Source, PlatformError> {
        let id = &former.id;
        let present = self.core.component_of(former).await?;
        let hooks = present.description.hooks;
        let loaded = self.runners.load(former.clone(), present).await;
        // A former version that can no longer be loaded (its account is gone) must not keep a new one out.
        if let Ok(loaded) = loaded {
            let runner = self.runners.open(id, loaded);
            runner.pause().await;
            if former.state != SourceState::Inactive {
                progress::begins_hook(Hook::Deactivate, hooks);
                if let Err(error) = runner.hook(Hook::Deactivate, false).await {
                    tracing::warn!(source_id = %id, %error, "`deactivate` failed; the update continues");
                }
            }
        }
        if target.deployment.is_some() {
            self.core.engine.evict(&id.clone().into()).await;
        }
        let next = Source {
            spec: target.spec.clone(),
            state: SourceState::Updating,
            ..former.clone()
        };
        progress::begins(DeployPart::Load);
        let loaded = self.runners.load(next, target.component.clone()).await?;
        let runner = self.runners.open(id, loaded);
        if target.active {
            self.endpoints
                .announce(former, &target.component, &target.spec.endpoints);
            runner.resume();
            progress::begins_hook(Hook::Activate, target.component.description.hooks);
            runner.hook(Hook::Activate, true).await?;
        }
        let lease = self.leases.of(&id.clone().into()).await?;
        let (spec, now_ms) = (target.spec.clone(), self.core.env.now_ms());
        let settled = SettledSource {
            deployment: target.deployment.clone(),
            ..SettledSource::new(lease, spec, target.active, now_ms)
        };
        let source = runner.settle(settled).await?;
        if !target.active {
            self.runners.close(id, Closing::Ended).await;
            self.core.engine.evict(&id.clone().into()).await;
        }
        Ok(source)
    }

    /// Lets the former version run again after a failed update.
    async fn restore(self: &Arc<Self>, former: &Source) {
        self.runners.close(&former.id, Closing::Restarted).await;
        self.core.engine.evict(&former.id.clone().into()).await;
        if let Err(error) = self.reactivate(former).await {
            tracing::error!(source_id = %former.id, %error, "the former version could not be activated again");
        }
        // The work that the failed version had begun is nobody's now.
        self.core.nudges.nudge(Chore::Queue);
    }

    /// Activates the recorded version and records the state that it had.
    pub(super) async fn reactivate(self: &Arc<Self>, former: &Source) -> Result<(), PlatformError> {
        let lease = self.leases.of(&former.id.clone().into()).await?;
        if former.state == SourceState::Inactive {
            return Ok(self
                .core
                .store
                .set_source_state(&lease, SourceState::Inactive)
                .await?);
        }
        self.core
            .store
            .set_source_state(&lease, SourceState::Active)
            .await?;
        let loaded = self
            .runners
            .load(former.clone(), self.core.component_of(former).await?)
            .await?;
        let runner = self.runners.open(&former.id, loaded);
        let activated = runner.hook(Hook::Activate, false).await;
        runner.resume();
        activated
    }
}

/// The acts that an update is: a change of fields, or turning the source on or off, or both.
fn acts(former: &Source, target: &Target, request: &UpdateSource) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut fields = Vec::new();
    if target.component.id != former.spec.component_id || request.refresh_deps {
        fields.push("component".to_owned());
    }
    if target.spec.name != former.spec.name {
        fields.push("name".to_owned());
    }
    if target.spec.is_isolated != former.spec.is_isolated {
        fields.push("isolated".to_owned());
    }
    let props = request
        .configured_props
        .iter()
        .flat_map(|props| props.keys());
    fields.extend(props.map(|prop| format!("configured_props.{prop}")));
    let was_active = former.state != SourceState::Inactive;
    if !fields.is_empty() || was_active == target.active {
        let act = Act::on_source(AuditAction::SourceUpdate, former).named(&target.spec.name);
        acts.push(told_of(act.with("fields", fields), &target.component));
    }
    match (was_active, target.active) {
        (true, false) => acts.push(Act::on_source(AuditAction::SourcePause, former)),
        (false, true) => acts.push(Act::on_source(AuditAction::SourceResume, former)),
        (true, true) | (false, false) => {}
    }
    acts
}
