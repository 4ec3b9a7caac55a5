//! Owners as rows keep them.

use headwater_store::{Owner, StoreError};
use rusqlite::Row;

use crate::row::{parsed, parsed_opt};

/// The columns `user_id` and `workspace_id`.
pub(crate) fn of(row: &Row<'_>) -> Result<Owner, StoreError> {
    Ok(Owner {
        user_id: parsed(row, "user_id")?,
        workspace_id: parsed_opt(row, "workspace_id")?,
    })
}
