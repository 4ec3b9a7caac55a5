//! The first user with its workspace and key.

use headwater_store::{FirstUser, StoreError, User};
use rusqlite::Connection;

use crate::{keys, users, workspaces};

pub(crate) fn create(connection: &Connection, first: &FirstUser) -> Result<User, StoreError> {
    if !users::any(connection)? {
        users::create(connection, &first.user)?;
        workspaces::create(connection, &first.workspace, &first.user.id)?;
        keys::create(connection, &first.key)?;
    }
    let found = users::oldest(connection)?;
    found.ok_or_else(|| StoreError::Corrupt("the first user is not there".to_owned()))
}
