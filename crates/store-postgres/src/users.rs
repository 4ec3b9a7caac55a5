//! Users, and the deletion of a user with its resources.

use headwater_model::{
    id::UserId,
    page::{Page, PageRequest},
};
use headwater_store::{Conflict, InUse, StoreError, Taken, User};
use tokio_postgres::Row;

use crate::{
    components,
    connection::{Connection, failed},
    data_stores::stores,
    owner::Departure,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned},
    workspaces,
};

pub(crate) async fn any(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .exists("SELECT 1 FROM users LIMIT 1", &[])
        .await
        .map_err(failed("looking for users"))
}

pub(crate) async fn create(connection: &Connection, user: &User) -> Result<(), StoreError> {
    if by_name(connection, &user.username).await?.is_some() {
        return Err(Conflict::Taken(Taken::Username(user.username.clone())).into());
    }
    connection
        .execute("INSERT INTO users (id, username, email, is_admin, created_at) VALUES ($1, $2, $3, $4, $5)", &[&user.id.as_str(), &user.username, &user.email, &user.is_admin, &signed(user.created_at)]).await
        .map_err(failed("writing a user"))
        .map(drop)
}

pub(crate) async fn by_id(connection: &Connection, id: &str) -> Result<Option<User>, StoreError> {
    one(connection, "SELECT * FROM users WHERE id = $1", id).await
}

pub(crate) async fn by_name(
    connection: &Connection,
    username: &str,
) -> Result<Option<User>, StoreError> {
    one(
        connection,
        "SELECT * FROM users WHERE username = $1",
        username,
    )
    .await
}

async fn one(
    connection: &Connection,
    sql: &str,
    parameter: &str,
) -> Result<Option<User>, StoreError> {
    let failed = failed("reading a user");
    let rows = connection
        .query(sql, &[&parameter])
        .await
        .map_err(&failed)?;
    rows.first().map(user).transpose()
}

fn user(row: &Row) -> Result<User, StoreError> {
    Ok(User {
        id: parsed(row, "id")?,
        username: get(row, "username")?,
        email: get(row, "email")?,
        is_admin: get(row, "is_admin")?,
        created_at: unsigned(row, "created_at")?,
    })
}

pub(crate) async fn page(
    connection: &Connection,
    page: &PageRequest<UserId>,
) -> Result<Page<User>, StoreError> {
    let listing = Listing {
        table: "users",
        filter: "TRUE".to_owned(),
        parameters: Vec::new(),
    };
    page_of(connection, &listing, page, UserId::as_str, user).await
}

/// The oldest user.
pub(crate) async fn oldest(connection: &Connection) -> Result<Option<User>, StoreError> {
    let failed = failed("reading a user");
    let sql = "SELECT * FROM users ORDER BY id LIMIT 1";
    let found = connection.query_opt(sql, &[]).await.map_err(failed)?;
    found.as_ref().map(user).transpose()
}

pub(crate) async fn members(
    connection: &Connection,
    workspace_id: &str,
    page: &PageRequest<UserId>,
) -> Result<Page<User>, StoreError> {
    let listing = Listing {
        table: "users",
        filter: "id IN (SELECT user_id FROM memberships WHERE workspace_id = $1)".to_owned(),
        parameters: vec![Box::new(workspace_id)],
    };
    page_of(connection, &listing, page, UserId::as_str, user).await
}

pub(crate) async fn delete(connection: &Connection, user_id: &UserId) -> Result<bool, StoreError> {
    let id = user_id.as_str();
    if by_id(connection, id).await?.is_none() {
        return Ok(false);
    }
    let mut alone = Vec::new();
    for workspace in workspaces::of_user(connection, id).await? {
        let workspace_id = workspace.id.as_str();
        match workspaces::successor(connection, workspace_id, id).await? {
            Some(successor) => {
                let departure = Departure {
                    workspace_id,
                    user_id: id,
                    successor: &successor,
                };
                workspaces::leave(connection, departure).await?;
            }
            None => alone.push(workspace.id),
        }
    }
    check_nothing_runs(connection, user_id).await?;
    for workspace_id in alone {
        workspaces::delete(connection, workspace_id.as_str()).await?;
    }
    components::delete_unused(connection, "user_id", id).await?;
    stores::delete_all_of(connection, id).await?;
    let failed = failed("deleting a user");
    for sql in [
        "DELETE FROM subscriptions WHERE user_id = $1",
        "DELETE FROM auto_subscriptions WHERE user_id = $1",
        "DELETE FROM accounts WHERE user_id = $1",
        "DELETE FROM connects WHERE user_id = $1",
        "DELETE FROM daily_usage WHERE owner_id = $1",
        "DELETE FROM api_keys WHERE user_id = $1",
        "DELETE FROM users WHERE id = $1",
    ] {
        connection.execute(sql, &[&id]).await.map_err(&failed)?;
    }
    Ok(true)
}

async fn check_nothing_runs(connection: &Connection, id: &UserId) -> Result<(), StoreError> {
    let count = async |sql: &str| -> Result<u64, StoreError> {
        let count = connection.value::<i64>(sql, &[&id.as_str()]).await;
        let count = count.map_err(failed("looking for what a user has"))?;
        Ok(count.unsigned_abs())
    };
    let sources = count("SELECT count(*) FROM sources WHERE user_id = $1").await?;
    let workflows = count("SELECT count(*) FROM workflows WHERE user_id = $1").await?;
    let webhooks = count("SELECT count(*) FROM webhooks WHERE user_id = $1").await?;
    match (sources, workflows, webhooks) {
        (0, 0, 0) => Ok(()),
        _ => Err(Conflict::InUse(InUse {
            user_id: id.clone(),
            sources,
            workflows,
            webhooks,
        })
        .into()),
    }
}
