//! Workspaces and their members, and the transfer of a leaving member's resources.

use headwater_model::{
    id::{UserId, WorkspaceId},
    page::{Page, PageRequest},
};
use headwater_store::{Conflict, Entity, Last, StoreError, Taken, Workspace};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    components,
    connection::{ExecutePrepared as _, failed},
    data_stores::stores,
    emitters,
    owner::Departure,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned},
};

/// The emitters and listeners of workspace `?1`.
const LIVES_IN_IT: &str = "SELECT id FROM sources WHERE workspace_id = ?1
                           UNION ALL SELECT id FROM workflows WHERE workspace_id = ?1
                           UNION ALL SELECT id FROM webhooks WHERE workspace_id = ?1";

pub(crate) fn create(
    connection: &Connection,
    workspace: &Workspace,
    first_member: &UserId,
) -> Result<(), StoreError> {
    let failed = failed("writing a workspace");
    let taken = connection
        .prepare_cached("SELECT 1 FROM workspaces WHERE orgname = ?")
        .and_then(|mut statement| statement.exists([&workspace.orgname]))
        .map_err(&failed)?;
    if taken {
        return Err(Conflict::Taken(Taken::Orgname(workspace.orgname.clone())).into());
    }
    connection
        .execute_prepared(
            "INSERT INTO workspaces (id, orgname, name, email, created_at) VALUES (?, ?, ?, ?, ?)",
            params![
                workspace.id.as_str(),
                workspace.orgname,
                workspace.name,
                workspace.email,
                signed(workspace.created_at)
            ],
        )
        .map_err(&failed)?;
    add_member(connection, &workspace.id, first_member)
}

pub(crate) fn by_id(connection: &Connection, id: &str) -> Result<Option<Workspace>, StoreError> {
    let failed = failed("reading a workspace");
    let mut statement = connection
        .prepare_cached("SELECT * FROM workspaces WHERE id = ?")
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(workspace).transpose()
}

/// The workspaces of a user, oldest first.
pub(crate) fn of_user(connection: &Connection, id: &str) -> Result<Vec<Workspace>, StoreError> {
    let failed = failed("reading a user's workspaces");
    let mut statement = connection
        .prepare_cached(
            "SELECT workspaces.* FROM memberships JOIN workspaces ON workspaces.id = workspace_id
             WHERE user_id = ? ORDER BY workspaces.id",
        )
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(workspace(row)?);
    }
    Ok(found)
}

pub(crate) fn page(
    connection: &Connection,
    user_id: &str,
    page: &PageRequest<WorkspaceId>,
) -> Result<Page<Workspace>, StoreError> {
    let listing = Listing {
        table: "workspaces",
        filter: "id IN (SELECT workspace_id FROM memberships WHERE user_id = ?1)".to_owned(),
        parameters: vec![user_id],
    };
    page_of(connection, &listing, page, WorkspaceId::as_str, workspace)
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

pub(crate) fn add_member(
    connection: &Connection,
    workspace_id: &WorkspaceId,
    user_id: &UserId,
) -> Result<(), StoreError> {
    let is_there = |sql: &str, id: &str| -> Result<bool, StoreError> {
        let mut statement = connection
            .prepare_cached(sql)
            .map_err(failed("adding a member"))?;
        statement.exists([id]).map_err(failed("adding a member"))
    };
    if !is_there("SELECT 1 FROM users WHERE id = ?", user_id.as_str())? {
        return Err(Conflict::Gone(Entity::User(user_id.clone())).into());
    }
    let workspace = workspace_id.as_str();
    if !is_there("SELECT 1 FROM workspaces WHERE id = ?", workspace)? {
        return Err(Conflict::Gone(Entity::Workspace(workspace_id.clone())).into());
    }
    connection
        .execute_prepared(
            "INSERT INTO memberships (workspace_id, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [workspace_id.as_str(), user_id.as_str()],
        )
        .map_err(failed("adding a member"))
        .map(drop)
}

pub(crate) fn remove_member(
    connection: &Connection,
    workspace_id: &WorkspaceId,
    user_id: &UserId,
) -> Result<bool, StoreError> {
    let is_member = connection
        .prepare_cached("SELECT 1 FROM memberships WHERE workspace_id = ? AND user_id = ?")
        .and_then(|mut statement| statement.exists([workspace_id.as_str(), user_id.as_str()]))
        .map_err(failed("looking for a member"))?;
    if !is_member {
        return Ok(false);
    }
    let successor =
        successor(connection, workspace_id.as_str(), user_id.as_str())?.ok_or_else(|| {
            Conflict::Last(Last::Member {
                workspace_id: workspace_id.clone(),
                user_id: user_id.clone(),
            })
        })?;
    let departure = Departure {
        workspace_id: workspace_id.as_str(),
        user_id: user_id.as_str(),
        successor: &successor,
    };
    leave(connection, departure)?;
    Ok(true)
}

/// The other member that has been a user longest.
pub(crate) fn successor(
    connection: &Connection,
    workspace_id: &str,
    user_id: &str,
) -> Result<Option<String>, StoreError> {
    connection
        .prepare_cached(
            "SELECT user_id FROM memberships WHERE workspace_id = ? AND user_id <> ? ORDER BY user_id LIMIT 1",
        )
        .and_then(|mut statement| {
            let successor = statement.query_row([workspace_id, user_id], |row| row.get(0));
            successor.optional()
        })
        .map_err(failed("looking for another member"))
}

/// Ends a membership and hands the user's resources in the workspace over.
pub(crate) fn leave(connection: &Connection, departure: Departure<'_>) -> Result<(), StoreError> {
    let Departure {
        workspace_id,
        user_id,
        successor,
    } = departure;
    let failed = failed("ending a membership");
    emitters::pass_on(connection, departure)?;
    for table in [
        "sources",
        "workflows",
        "components",
        "component_search",
        "accounts",
        "webhooks",
    ] {
        connection
            .execute_prepared(
                &format!(
                    "UPDATE {table} SET user_id = ?3 WHERE workspace_id = ?1 AND user_id = ?2"
                ),
                [workspace_id, user_id, successor],
            )
            .map_err(&failed)?;
    }
    // Only members connect accounts to it.
    connection
        .execute_prepared(
            "DELETE FROM connects WHERE workspace_id = ? AND user_id = ?",
            [workspace_id, user_id],
        )
        .map_err(&failed)?;
    // The successor may have an equal one.
    connection
        .execute_prepared(
            &format!(
                "UPDATE OR IGNORE subscriptions SET user_id = ?3
                 WHERE user_id = ?2 AND listener IN ({LIVES_IN_IT}) AND emitter IN ({LIVES_IN_IT} UNION ALL SELECT ?1)"
            ),
            [workspace_id, user_id, successor],
        )
        .map_err(&failed)?;
    connection
        .execute_prepared(
            &format!(
                "DELETE FROM subscriptions
                 WHERE user_id = ?2 AND (listener IN ({LIVES_IN_IT}) OR emitter IN ({LIVES_IN_IT} UNION ALL SELECT ?1))"
            ),
            [workspace_id, user_id],
        )
        .map_err(&failed)?;
    connection
        .execute_prepared(
            &format!(
                "DELETE FROM auto_subscriptions WHERE user_id = ?2 AND listener IN ({LIVES_IN_IT})"
            ),
            [workspace_id, user_id],
        )
        .map_err(&failed)?;
    connection
        .execute_prepared(
            "DELETE FROM memberships WHERE workspace_id = ? AND user_id = ?",
            [workspace_id, user_id],
        )
        .map_err(&failed)
        .map(drop)
}

/// Deletes a workspace without sources, workflows and webhooks.
pub(crate) fn delete(connection: &Connection, id: &str) -> Result<(), StoreError> {
    components::delete_unused(connection, "workspace_id", id)?;
    stores::delete_all_of(connection, id)?;
    let failed = failed("deleting a workspace");
    for sql in [
        "DELETE FROM accounts WHERE workspace_id = ?",
        "DELETE FROM connects WHERE workspace_id = ?",
        "DELETE FROM daily_usage WHERE owner_id = ?",
        "DELETE FROM memberships WHERE workspace_id = ?",
        "DELETE FROM workspaces WHERE id = ?",
    ] {
        connection.execute_prepared(sql, [id]).map_err(&failed)?;
    }
    Ok(())
}
