//! Runs of sources that are done again.

use headwater_model::id::{DeploymentId, SourceId};
use headwater_platform::{SourceReplay as Found, SourceVersion};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{Replay, RunReport, TrialReport, id};

/// A replay: of a source's run, or of a workflow's, which has an `id`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum AnyReplay {
    Source(Box<SourceReplay>),
    Workflow(Replay),
}

/// A replay of a source's run, done or planned.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SourceReplay {
    #[schema(value_type = id::Source)]
    source_id: SourceId,
    /// The deployment whose code and values run. Null if the node keeps it no longer; then it cannot be followed.
    #[schema(required, value_type = Option<id::Deployment>)]
    deployment_id: Option<DeploymentId>,
    /// The event. Null if it is not known; then `event` is required.
    #[schema(required)]
    event: Option<Value>,
    /// The new run on the code of now. Absent if nothing was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunReport>,
    /// The trial of the code of then, whose events go nowhere. Absent if nothing was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<TrialReport>,
}

impl SourceReplay {
    pub(crate) fn new(found: Found, version: SourceVersion, event: Option<Value>) -> Self {
        let deployment = found.deployment(version);
        Self {
            source_id: found.source_id.clone(),
            deployment_id: deployment.map(|view| view.deployment.id.clone()),
            event: event.or(found.event),
            run: None,
            trial: None,
        }
    }

    pub(crate) fn with_run(self, run: headwater_platform::RunReport) -> Self {
        Self {
            run: Some(run.into()),
            ..self
        }
    }

    pub(crate) fn with_trial(self, trial: headwater_platform::TrialReport) -> Self {
        Self {
            trial: Some(trial.into()),
            ..self
        }
    }
}
