//! Whether workflows take triggers, for those who queue runs.

use headwater_store::{StoreError, WorkflowState};
use rusqlite::{Connection, OptionalExtension as _};

use crate::{connection::failed, row::named};

/// Whether the workflow takes triggers; `None`: it is not there.
pub(crate) fn state(
    connection: &Connection,
    id: &str,
) -> Result<Option<WorkflowState>, StoreError> {
    let state: Option<String> = connection
        .prepare_cached("SELECT state FROM workflows WHERE id = ?")
        .and_then(|mut statement| {
            let state = statement.query_row([id], |row| row.get(0));
            state.optional()
        })
        .map_err(failed("looking a workflow up"))?;
    state.as_deref().map(named).transpose()
}
