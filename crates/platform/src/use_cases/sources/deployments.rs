//! The deployments of a source: their list, one with its code, and the way back to it.

use std::sync::Arc;

use headwater_model::{
    error::Invalid,
    id::{DeploymentId, SourceId},
    page::{Page, PageRequest},
};
use headwater_store::{NewSourceDeployment, SavedComponent, Source, SourceDeployment, SourceState};

use super::{SourceView, change::Target, deploy::told_of, hidden_secrets, plan::Wanted};
use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    use_cases::components::ComponentRef,
};

/// A deployment of a source as responses show it.
#[derive(Debug, Clone)]
pub struct SourceDeploymentView {
    /// The record; the values of secret props are null.
    pub deployment: SourceDeployment,
    /// Props whose values are secret, and therefore null.
    pub secrets: Vec<String>,
    /// Whether the source runs it.
    pub is_current: bool,
}

/// A deployment of a source with its code.
#[derive(Debug, Clone)]
pub struct SourceDeploymentDetail {
    /// The deployment as lists have it.
    pub view: SourceDeploymentView,
    /// Its saved component; none if the caller may not see that.
    pub component: Option<SavedComponent>,
}

impl SourceDeploymentView {
    pub(super) fn new(mut deployment: SourceDeployment, source: &Source) -> Self {
        let secrets = hidden_secrets(&mut deployment.configured_props);
        Self {
            secrets,
            is_current: source.deployment_id.as_ref() == Some(&deployment.id),
            deployment,
        }
    }
}

impl Platform {
    /// A page of the deployments of a source that are kept, oldest first.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such source.
    pub async fn source_deployments(
        &self,
        caller: &Caller,
        id: &SourceId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<SourceDeploymentView>, PlatformError> {
        let source = self.visible_source(caller, id).await?;
        let found = self.core.store.source_deployments(id, page).await?;
        let items = found.items.into_iter();
        Ok(Page {
            items: items
                .map(|deployment| SourceDeploymentView::new(deployment, &source))
                .collect(),
            total_count: found.total_count,
        })
    }

    /// A deployment of a source with its code.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such source, and when that has no such deployment any more.
    pub async fn source_deployment(
        &self,
        caller: &Caller,
        id: &SourceId,
        deployment_id: &DeploymentId,
    ) -> Result<SourceDeploymentDetail, PlatformError> {
        let source = self.visible_source(caller, id).await?;
        let deployment = self.kept_deployment(id, deployment_id).await?;
        let reference = ComponentRef::Id(deployment.component.id.clone());
        let component = match self.component(caller, &reference, None).await {
            Ok(component) => Some(component),
            Err(PlatformError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(SourceDeploymentDetail {
            view: SourceDeploymentView::new(deployment, &source),
            component,
        })
    }

    /// Takes up code, values and isolation of a former deployment again, as an update to them would
    /// (`POST /sources/{id}/roll_back`): name, state, endpoints, events and key-value map stay, and a new deployment
    /// begins.
    ///
    /// # Errors
    /// `NotFound` as above, `Conflict` when the source runs that deployment or its component is gone, otherwise as for
    /// updating, such as `InvalidProps` when an account is gone; the source is as it was.
    pub async fn roll_back_source(
        self: &Arc<Self>,
        caller: &Caller,
        id: &SourceId,
        deployment_id: &DeploymentId,
    ) -> Result<SourceView, PlatformError> {
        self.visible_source(caller, id).await?;
        let _turn = self.lifecycles.lock(&id.clone().into()).await;
        let present = self.visible_source(caller, id).await?;
        if present.deployment_id.as_ref() == Some(deployment_id) {
            return Err(PlatformError::Conflict(format!(
                "the source runs deployment `{deployment_id}` already; name a former one"
            )));
        }
        let target = self.restored(caller, &present, deployment_id).await?;
        let act = Act::on_source(AuditAction::SourceRollBack, &present);
        let act = act.with("deployment_id", deployment_id.as_str());
        let act = told_of(act, &target.component);
        let changed = self.change(present, target).await?;
        self.record(caller, act).await;
        Ok(changed)
    }

    /// A deployment with its sealed values.
    pub(super) async fn kept_deployment(
        &self,
        id: &SourceId,
        deployment_id: &DeploymentId,
    ) -> Result<SourceDeployment, PlatformError> {
        let found = self.core.store.source_deployment(id, deployment_id).await?;
        found.ok_or_else(|| PlatformError::not_found("deployment", deployment_id))
    }

    /// The code of a deployment.
    ///
    /// # Errors
    /// `Conflict` when it is gone.
    pub(super) async fn deployed_component(
        &self,
        deployment: &SourceDeployment,
    ) -> Result<SavedComponent, PlatformError> {
        let (id, component_id) = (&deployment.id, &deployment.component.id);
        let component = self.core.store.component(component_id).await?;
        component.ok_or_else(|| {
            PlatformError::Conflict(format!(
                "component `{component_id}` of deployment `{id}` is gone; update the source with code of your own"
            ))
        })
    }

    async fn restored(
        self: &Arc<Self>,
        caller: &Caller,
        present: &Source,
        deployment_id: &DeploymentId,
    ) -> Result<Target, PlatformError> {
        let deployment = self.kept_deployment(&present.id, deployment_id).await?;
        let component = self.deployed_component(&deployment).await?;
        let values = self.props.opened(&deployment.configured_props);
        let wanted = Wanted {
            component: &component,
            owner: &present.owner,
            name: &present.spec.name,
            is_isolated: deployment.is_isolated,
            values: values.map_err(|error| unfit(error, deployment_id))?,
            given: None,
            former: Some(present),
        };
        let spec = self.plan(caller, wanted).await;
        Ok(Target {
            spec: spec.map_err(|error| unfit(error, deployment_id))?,
            component,
            active: present.state != SourceState::Inactive,
            deployment: Some(self.new_deployment(caller, Some(deployment_id))),
        })
    }

    /// A deployment by the caller that begins now.
    pub(super) fn new_deployment(
        &self,
        caller: &Caller,
        restores: Option<&DeploymentId>,
    ) -> NewSourceDeployment {
        NewSourceDeployment {
            id: self.core.env.id(DeploymentId::new),
            user_id: caller.user_id().clone(),
            restores: restores.cloned(),
        }
    }
}

/// The error of values that fitted once.
pub(super) fn unfit(error: PlatformError, id: &DeploymentId) -> PlatformError {
    if let PlatformError::Conflict(reason) = error {
        let reason = format!("deployment `{id}` cannot run: {reason}");
        return PlatformError::Conflict(reason);
    }
    let PlatformError::InvalidProps(invalid) = error else {
        return error;
    };
    let reason = format!(
        "{}; deployment `{id}` had this value: update the source with another one instead",
        invalid.reason
    );
    PlatformError::InvalidProps(Invalid::new(&invalid.field, reason))
}
