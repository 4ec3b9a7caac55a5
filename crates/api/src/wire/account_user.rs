//! The sources and workflows that use an account.

use headwater_model::{
    id::{RunnableId, SourceId, WorkflowId},
    time::EpochMs,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::id;

/// A source or workflow that uses an account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccountUser {
    /// The source; absent if a workflow uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    /// The workflow; absent if a source uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Workflow>)]
    workflow_id: Option<WorkflowId>,
    /// The name of the source or workflow.
    name: String,
    /// The props that stand for the account; of a workflow, `STEP.PROP`.
    props: Vec<String>,
    /// The start of its last run, in epoch milliseconds. Null if that failed, or none is kept.
    #[schema(required, value_type = Option<u64>)]
    succeeded_at_ms: Option<EpochMs>,
}

impl From<headwater_platform::AccountUser> for AccountUser {
    fn from(user: headwater_platform::AccountUser) -> Self {
        let (source_id, workflow_id) = match user.runnable {
            RunnableId::Source(id) => (Some(id), None),
            RunnableId::Workflow(id) => (None, Some(id)),
        };
        Self {
            source_id,
            workflow_id,
            name: user.name,
            props: user.props,
            succeeded_at_ms: user.succeeded_at_ms,
        }
    }
}
