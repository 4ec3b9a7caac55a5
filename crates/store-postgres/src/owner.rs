//! Owners as rows keep them.

use headwater_store::{Owner, StoreError};
use tokio_postgres::Row;

use crate::row::{parsed, parsed_opt};

/// The end of a membership, and the member that takes over the user's resources in the workspace.
#[derive(Clone, Copy)]
pub(crate) struct Departure<'a> {
    pub(crate) workspace_id: &'a str,
    pub(crate) user_id: &'a str,
    pub(crate) successor: &'a str,
}

/// The columns `user_id` and `workspace_id`.
pub(crate) fn of(row: &Row) -> Result<Owner, StoreError> {
    Ok(Owner {
        user_id: parsed(row, "user_id")?,
        workspace_id: parsed_opt(row, "workspace_id")?,
    })
}
