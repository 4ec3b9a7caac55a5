//! The first user with its workspace and key.

use headwater_store::{FirstUser, StoreError, User};

use crate::{connection::Connection, keys, users, workspaces};

pub(crate) async fn create(connection: &Connection, first: &FirstUser) -> Result<User, StoreError> {
    if !users::any(connection).await? {
        users::create(connection, &first.user).await?;
        workspaces::create(connection, &first.workspace, &first.user.id).await?;
        keys::create(connection, &first.key).await?;
    }
    let found = users::oldest(connection).await?;
    found.ok_or_else(|| StoreError::Corrupt("the first user is not there".to_owned()))
}
