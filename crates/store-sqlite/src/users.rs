//! Users, and the deletion of a user with its resources.

use headwater_model::{
    id::UserId,
    page::{Page, PageRequest},
};
use headwater_store::{Conflict, InUse, StoreError, Taken, User};
use rusqlite::{Connection, Row, params};

use crate::{
    components,
    connection::{ExecutePrepared as _, failed},
    data_stores::stores,
    owner::Departure,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned},
    workspaces,
};

pub(crate) fn any(connection: &Connection) -> Result<bool, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT 1 FROM users")
        .map_err(failed("looking for users"))?;
    statement.exists(()).map_err(failed("looking for users"))
}

pub(crate) fn create(connection: &Connection, user: &User) -> Result<(), StoreError> {
    if by_name(connection, &user.username)?.is_some() {
        return Err(Conflict::Taken(Taken::Username(user.username.clone())).into());
    }
    connection
        .execute_prepared(
            "INSERT INTO users (id, username, email, is_admin, created_at) VALUES (?, ?, ?, ?, ?)",
            params![
                user.id.as_str(),
                user.username,
                user.email,
                user.is_admin,
                signed(user.created_at)
            ],
        )
        .map_err(failed("writing a user"))
        .map(drop)
}

pub(crate) fn by_id(connection: &Connection, id: &str) -> Result<Option<User>, StoreError> {
    one(connection, "SELECT * FROM users WHERE id = ?", id)
}

pub(crate) fn by_name(connection: &Connection, username: &str) -> Result<Option<User>, StoreError> {
    one(
        connection,
        "SELECT * FROM users WHERE username = ?",
        username,
    )
}

fn one(connection: &Connection, sql: &str, parameter: &str) -> Result<Option<User>, StoreError> {
    let failed = failed("reading a user");
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([parameter]).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(user).transpose()
}

fn user(row: &Row<'_>) -> Result<User, StoreError> {
    Ok(User {
        id: parsed(row, "id")?,
        username: get(row, "username")?,
        email: get(row, "email")?,
        is_admin: get(row, "is_admin")?,
        created_at: unsigned(row, "created_at")?,
    })
}

pub(crate) fn page(
    connection: &Connection,
    page: &PageRequest<UserId>,
) -> Result<Page<User>, StoreError> {
    let listing = Listing {
        table: "users",
        filter: "TRUE".to_owned(),
        parameters: Vec::new(),
    };
    page_of(connection, &listing, page, UserId::as_str, user)
}

/// The oldest user.
pub(crate) fn oldest(connection: &Connection) -> Result<Option<User>, StoreError> {
    let sql = "SELECT * FROM users WHERE ?1 IS NOT NULL ORDER BY id LIMIT 1";
    one(connection, sql, "")
}

pub(crate) fn members(
    connection: &Connection,
    workspace_id: &str,
    page: &PageRequest<UserId>,
) -> Result<Page<User>, StoreError> {
    let listing = Listing {
        table: "users",
        filter: "id IN (SELECT user_id FROM memberships WHERE workspace_id = ?1)".to_owned(),
        parameters: vec![workspace_id],
    };
    page_of(connection, &listing, page, UserId::as_str, user)
}

pub(crate) fn delete(connection: &Connection, user_id: &UserId) -> Result<bool, StoreError> {
    let id = user_id.as_str();
    if by_id(connection, id)?.is_none() {
        return Ok(false);
    }
    let mut alone = Vec::new();
    for workspace in workspaces::of_user(connection, id)? {
        let workspace_id = workspace.id.as_str();
        match workspaces::successor(connection, workspace_id, id)? {
            Some(successor) => {
                let departure = Departure {
                    workspace_id,
                    user_id: id,
                    successor: &successor,
                };
                workspaces::leave(connection, departure)?;
            }
            None => alone.push(workspace.id),
        }
    }
    check_nothing_runs(connection, user_id)?;
    for workspace_id in alone {
        workspaces::delete(connection, workspace_id.as_str())?;
    }
    components::delete_unused(connection, "user_id", id)?;
    stores::delete_all_of(connection, id)?;
    let failed = failed("deleting a user");
    for sql in [
        "DELETE FROM subscriptions WHERE user_id = ?",
        "DELETE FROM auto_subscriptions WHERE user_id = ?",
        "DELETE FROM accounts WHERE user_id = ?",
        "DELETE FROM connects WHERE user_id = ?",
        "DELETE FROM daily_usage WHERE owner_id = ?",
        "DELETE FROM api_keys WHERE user_id = ?",
        "DELETE FROM users WHERE id = ?",
    ] {
        connection.execute_prepared(sql, [id]).map_err(&failed)?;
    }
    Ok(true)
}

fn check_nothing_runs(connection: &Connection, id: &UserId) -> Result<(), StoreError> {
    let count = |sql: &str| -> Result<u64, StoreError> {
        let count = connection.query_row(sql, [id.as_str()], |row| row.get::<_, i64>(0));
        let count = count.map_err(failed("looking for what a user has"))?;
        Ok(count.unsigned_abs())
    };
    let sources = count("SELECT count(*) FROM sources WHERE user_id = ?")?;
    let workflows = count("SELECT count(*) FROM workflows WHERE user_id = ?")?;
    let webhooks = count("SELECT count(*) FROM webhooks WHERE user_id = ?")?;
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
