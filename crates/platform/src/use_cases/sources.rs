//! Sources: deploying, updating, pausing, deleting and running them (docs/architecture.md, "A source is
//! deployed or updated").
//!
//! Every change of one source's life is serialized by its lifecycle lock, and is all or nothing:
//! the record changes only after the hooks succeeded.

mod change;
mod deploy;
mod deployments;
mod listing;
mod plan;
mod recover;
mod replay;

use std::sync::Arc;

pub use deployments::{SourceDeploymentDetail, SourceDeploymentView};
pub use replay::{SourceReplay, SourceVersion};

use headwater_model::{
    id::SourceId,
    prop::{self, ConfiguredProps},
};
use headwater_store::{SavedComponent, Source, SourceState, Trigger};
use serde_json::{Value, json};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    runner::{Reply, RunReport},
    secrets,
    use_cases::components::ComponentInput,
    use_cases::prop_warnings::prop_warnings,
};

/// `POST /sources/`.
#[derive(Debug, Clone, Default)]
pub struct DeploySource {
    /// The component.
    pub component: ComponentInput,
    /// The source's name; the slug when absent.
    pub name: Option<String>,
    /// Values by prop.
    pub configured_props: ConfiguredProps,
    /// Whether it shares no worker with other sources.
    pub is_isolated: bool,
    /// The workspace it is to live in.
    pub workspace_id: Option<headwater_model::id::WorkspaceId>,
}

/// `PUT` and `PATCH /sources/{id}`: fields that are `None` stay.
#[derive(Debug, Clone, Default)]
pub struct UpdateSource {
    /// Other code; empty keeps the code.
    pub component: ComponentInput,
    /// Another name.
    pub name: Option<String>,
    /// Whether its triggers are on.
    pub active: Option<bool>,
    /// Values by prop, merged into the former ones; null takes one away.
    pub configured_props: Option<ConfiguredProps>,
    /// Whether it shares no worker with other sources.
    pub is_isolated: Option<bool>,
    /// Whether the packages of its code are to be the latest allowed.
    pub refresh_deps: bool,
}

/// A source as responses show it.
#[derive(Debug, Clone)]
pub struct SourceView {
    /// The record; its `configured_props` hold secrets and are not to be shown.
    pub source: Source,
    /// The values to show instead: secrets are null, endpoints and timers filled in.
    pub configured_props: ConfiguredProps,
    /// Props whose values are secret, and therefore null in the above.
    pub secrets: Vec<String>,
    /// Features of the component that do not work on this node; returned by deployments and updates.
    pub warnings: Vec<String>,
}

impl SourceView {
    pub(crate) fn new(platform: &Platform, source: Source) -> Self {
        let mut shown = source.spec.configured_props.clone();
        let secrets = hidden_secrets(&mut shown);
        for endpoint in &source.spec.endpoints {
            shown.insert(
                endpoint.prop.clone(),
                json!({ "endpoint_url": platform.core.config.endpoint_url(&endpoint.token) }),
            );
        }
        for timer in &source.spec.timers {
            shown.insert(timer.prop.clone(), timer.schedule.to_value());
        }
        Self {
            source,
            configured_props: shown,
            secrets,
            warnings: Vec::new(),
        }
    }

    /// The same, with the features of this component that do not work on this node.
    fn of_component(self, component: &SavedComponent) -> Self {
        let definitions = prop::merge(
            &component.description.props,
            &self.source.spec.dynamic_props,
        );
        Self {
            warnings: prop_warnings(&definitions),
            ..self
        }
    }

    /// Whether its triggers are on. During an update it keeps its former value.
    pub fn active(&self) -> bool {
        matches!(
            self.source.state,
            SourceState::Active | SourceState::Updating | SourceState::Deploying
        )
    }
}

/// Takes secrets out of values, and names the props that had them.
fn hidden_secrets(values: &mut ConfiguredProps) -> Vec<String> {
    let sealed = values
        .iter_mut()
        .filter(|(_, value)| secrets::is_sealed(value));
    sealed
        .map(|(name, value)| {
            *value = Value::Null;
            name.clone()
        })
        .collect()
}

impl Platform {
    /// A source that the caller may see.
    pub async fn source(
        &self,
        caller: &Caller,
        id: &SourceId,
    ) -> Result<SourceView, PlatformError> {
        Ok(SourceView::new(
            self,
            self.visible_source(caller, id).await?,
        ))
    }

    /// Runs a source now with that event and waits until the run is committed.
    ///
    /// # Errors
    /// `Conflict` when the source is not active, `QuotaExceeded` when its user has had its invocations of
    /// the day.
    pub async fn run_source(
        self: &Arc<Self>,
        caller: &Caller,
        id: &SourceId,
        event: Option<Value>,
    ) -> Result<RunReport, PlatformError> {
        let source = self.visible_source(caller, id).await?;
        let act = Act::on_source(AuditAction::SourceRun, &source);
        self.run_by_hand(caller, &source, event, act).await
    }

    /// The same for a source that the caller has been shown, told as this act.
    async fn run_by_hand(
        self: &Arc<Self>,
        caller: &Caller,
        source: &Source,
        event: Option<Value>,
        act: Act,
    ) -> Result<RunReport, PlatformError> {
        let id = &source.id;
        if source.state == SourceState::Inactive {
            let word = self.source_called(source).await;
            return Err(PlatformError::Conflict(format!(
                "source `{}` is not active; activate it first (`headwater resume {word}`)",
                source.spec.name
            )));
        }
        let event = event.unwrap_or_else(|| json!({ "timestamp": self.core.env.now_at() }));
        let event = serde_json::value::to_raw_value(&event)
            .map_err(|error| PlatformError::Internal(error.to_string()))?;
        let user_id = &source.owner.user_id;
        self.quotas.take_invocation(user_id).await?;
        let (reply, report) = tokio::sync::oneshot::channel();
        self.runners
            .start(id, Trigger::Manual, event, Reply::Report(reply))
            .await
            .inspect_err(|_| self.quotas.give_invocation_back(user_id))?;
        self.record(caller, act).await;
        report.await.map_err(|_| {
            PlatformError::Unavailable("the node is stopping; the run continues later".to_owned())
        })
    }
}
