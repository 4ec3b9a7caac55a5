//! Whether workflows take triggers, for those who queue runs.

use headwater_store::{StoreError, WorkflowState};

use crate::{
    connection::{Connection, failed},
    row::named,
};

/// Whether the workflow takes triggers; `None`: it is not there.
pub(crate) async fn state(
    connection: &Connection,
    id: &str,
) -> Result<Option<WorkflowState>, StoreError> {
    let state: Option<String> = connection
        .value_opt("SELECT state FROM workflows WHERE id = $1", &[&id])
        .await
        .map_err(failed("looking a workflow up"))?;
    state.as_deref().map(named).transpose()
}
