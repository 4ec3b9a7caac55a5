//! Users, workspaces, keys and usage.

use headwater_model::id::UserId;
use headwater_store::{FirstUser, Identity, StoreError, Usage, User, Workspace};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    connection::failed,
    row::{get, parsed, signed, unsigned},
};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

pub(crate) fn any(connection: &Connection) -> Result<bool, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT 1 FROM users")
        .map_err(failed("looking for users"))?;
    statement.exists(()).map_err(failed("looking for users"))
}

pub(crate) fn create_first(
    connection: &Connection,
    first: &FirstUser,
) -> Result<Identity, StoreError> {
    if !any(connection)? {
        insert_first(connection, first).map_err(failed("writing the first user"))?;
    }
    let id: String = connection
        .query_row("SELECT id FROM users ORDER BY id LIMIT 1", (), |row| {
            row.get(0)
        })
        .map_err(failed("reading the first user"))?;
    of_user(connection, &id)
}

fn insert_first(connection: &Connection, first: &FirstUser) -> rusqlite::Result<()> {
    let FirstUser {
        user,
        workspace,
        key,
    } = first;
    connection.execute(
        "INSERT INTO users (id, username, email, created_at) VALUES (?, ?, ?, ?)",
        params![
            user.id.as_str(),
            user.username,
            user.email,
            signed(user.created_at)
        ],
    )?;
    connection.execute(
        "INSERT INTO workspaces (id, orgname, name, email, created_at) VALUES (?, ?, ?, ?, ?)",
        params![
            workspace.id.as_str(),
            workspace.orgname,
            workspace.name,
            workspace.email,
            signed(workspace.created_at)
        ],
    )?;
    connection.execute(
        "INSERT INTO memberships (workspace_id, user_id) VALUES (?, ?)",
        params![workspace.id.as_str(), user.id.as_str()],
    )?;
    connection.execute(
        "INSERT INTO api_keys (id, user_id, hash, created_at) VALUES (?, ?, ?, ?)",
        params![
            key.id.as_str(),
            key.user_id.as_str(),
            key.hash,
            signed(key.created_at)
        ],
    )?;
    Ok(())
}

pub(crate) fn by_key(connection: &Connection, hash: &str) -> Result<Option<Identity>, StoreError> {
    let user: Option<String> = connection
        .prepare_cached("SELECT user_id FROM api_keys WHERE hash = ?")
        .and_then(|mut statement| statement.query_row([hash], |row| row.get(0)).optional())
        .map_err(failed("looking a key up"))?;
    user.map(|id| of_user(connection, &id)).transpose()
}

fn of_user(connection: &Connection, id: &str) -> Result<Identity, StoreError> {
    let failed = failed("reading a user");
    let mut users = connection
        .prepare_cached("SELECT * FROM users WHERE id = ?")
        .map_err(&failed)?;
    let mut rows = users.query([id]).map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    let user = user(row.ok_or_else(|| {
        StoreError::Corrupt(format!("a key belongs to user {id}, who is not there"))
    })?)?;
    let mut workspaces = connection
        .prepare_cached(
            "SELECT workspaces.* FROM memberships JOIN workspaces ON workspaces.id = workspace_id
             WHERE user_id = ? ORDER BY workspaces.id",
        )
        .map_err(&failed)?;
    let mut rows = workspaces.query([id]).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(workspace(row)?);
    }
    Ok(Identity {
        user,
        workspaces: found,
    })
}

fn user(row: &Row<'_>) -> Result<User, StoreError> {
    Ok(User {
        id: parsed(row, "id")?,
        username: get(row, "username")?,
        email: get(row, "email")?,
        created_at: unsigned(row, "created_at")?,
    })
}

fn workspace(row: &Row<'_>) -> Result<Workspace, StoreError> {
    Ok(Workspace {
        id: parsed(row, "id")?,
        orgname: get(row, "orgname")?,
        name: get(row, "name")?,
        email: get(row, "email")?,
        created_at: unsigned(row, "created_at")?,
    })
}

pub(crate) fn usage(
    connection: &Connection,
    user_id: &UserId,
    now_ms: u64,
) -> Result<Usage, StoreError> {
    let failed = failed("reading usage");
    let mut statement = connection
        .prepare_cached("SELECT invocations, compute_ms FROM usage WHERE user_id = ? AND day = ?")
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![user_id.as_str(), signed(now_ms / DAY_MS)])
        .map_err(&failed)?;
    match rows.next().map_err(&failed)? {
        None => Ok(Usage::default()),
        Some(row) => Ok(Usage {
            invocations: unsigned(row, "invocations")?,
            compute_ms: unsigned(row, "compute_ms")?,
        }),
    }
}

/// Adds to the day's usage of the user.
pub(crate) fn add_usage(
    connection: &Connection,
    user_id: &str,
    usage: Usage,
    now_ms: u64,
) -> Result<(), StoreError> {
    if usage == Usage::default() {
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT INTO usage (user_id, day, invocations, compute_ms) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET invocations = invocations + ?3, compute_ms = compute_ms + ?4",
        )
        .and_then(|mut statement| {
            let day = signed(now_ms / DAY_MS);
            statement.execute(params![user_id, day, signed(usage.invocations), signed(usage.compute_ms)])
        })
        .map_err(failed("counting usage"))
        .map(drop)
}
