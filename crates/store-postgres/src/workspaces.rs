//! Workspaces and their members, and the transfer of a leaving member's resources.

use headwater_model::{
    id::{UserId, WorkspaceId},
    page::{Page, PageRequest},
};
use headwater_store::{Conflict, Entity, Last, StoreError, Taken, Workspace};
use tokio_postgres::Row;

use crate::{
    components,
    connection::{Connection, failed},
    data_stores::stores,
    emitters,
    owner::Departure,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned},
};

/// The emitters and listeners of workspace `?1`.
const LIVES_IN_IT: &str = "SELECT id FROM sources WHERE workspace_id = $1
                           UNION ALL SELECT id FROM workflows WHERE workspace_id = $1
                           UNION ALL SELECT id FROM webhooks WHERE workspace_id = $1";

pub(crate) async fn create(
    connection: &Connection,
    workspace: &Workspace,
    first_member: &UserId,
) -> Result<(), StoreError> {
    let failed = failed("writing a workspace");
    let taken = connection
        .exists(
            "SELECT 1 FROM workspaces WHERE orgname = $1",
            &[&workspace.orgname],
        )
        .await
        .map_err(&failed)?;
    if taken {
        return Err(Conflict::Taken(Taken::Orgname(workspace.orgname.clone())).into());
    }
    connection
        .execute("INSERT INTO workspaces (id, orgname, name, email, created_at) VALUES ($1, $2, $3, $4, $5)", &[&workspace.id.as_str(), &workspace.orgname, &workspace.name, &workspace.email, &signed(workspace.created_at)]).await
        .map_err(&failed)?;
    add_member(connection, &workspace.id, first_member).await
}

pub(crate) async fn by_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<Workspace>, StoreError> {
    let failed = failed("reading a workspace");
    let rows = connection
        .query("SELECT * FROM workspaces WHERE id = $1", &[&id])
        .await
        .map_err(&failed)?;
    rows.first().map(workspace).transpose()
}

/// The workspaces of a user, oldest first.
pub(crate) async fn of_user(
    connection: &Connection,
    id: &str,
) -> Result<Vec<Workspace>, StoreError> {
    let failed = failed("reading a user's workspaces");
    let rows = connection
        .query(
            "SELECT workspaces.* FROM memberships JOIN workspaces ON workspaces.id = workspace_id
             WHERE user_id = $1 ORDER BY workspaces.id",
            &[&id],
        )
        .await
        .map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(workspace(row)?);
    }
    Ok(found)
}

pub(crate) async fn page(
    connection: &Connection,
    user_id: &str,
    page: &PageRequest<WorkspaceId>,
) -> Result<Page<Workspace>, StoreError> {
    let listing = Listing {
        table: "workspaces",
        filter: "id IN (SELECT workspace_id FROM memberships WHERE user_id = $1)".to_owned(),
        parameters: vec![Box::new(user_id)],
    };
    page_of(connection, &listing, page, WorkspaceId::as_str, workspace).await
}

fn workspace(row: &Row) -> Result<Workspace, StoreError> {
    Ok(Workspace {
        id: parsed(row, "id")?,
        orgname: get(row, "orgname")?,
        name: get(row, "name")?,
        email: get(row, "email")?,
        created_at: unsigned(row, "created_at")?,
    })
}

pub(crate) async fn add_member(
    connection: &Connection,
    workspace_id: &WorkspaceId,
    user_id: &UserId,
) -> Result<(), StoreError> {
    let is_there = async |sql: &str, id: &str| -> Result<bool, StoreError> {
        connection
            .exists(sql, &[&id])
            .await
            .map_err(failed("adding a member"))
    };
    if !is_there("SELECT 1 FROM users WHERE id = $1", user_id.as_str()).await? {
        return Err(Conflict::Gone(Entity::User(user_id.clone())).into());
    }
    let workspace = workspace_id.as_str();
    if !is_there("SELECT 1 FROM workspaces WHERE id = $1", workspace).await? {
        return Err(Conflict::Gone(Entity::Workspace(workspace_id.clone())).into());
    }
    connection
        .execute("INSERT INTO memberships (workspace_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING", &[&workspace_id.as_str(), &user_id.as_str()]).await
        .map_err(failed("adding a member"))
        .map(drop)
}

pub(crate) async fn remove_member(
    connection: &Connection,
    workspace_id: &WorkspaceId,
    user_id: &UserId,
) -> Result<bool, StoreError> {
    let is_member = connection
        .exists(
            "SELECT 1 FROM memberships WHERE workspace_id = $1 AND user_id = $2",
            &[&workspace_id.as_str(), &user_id.as_str()],
        )
        .await
        .map_err(failed("looking for a member"))?;
    if !is_member {
        return Ok(false);
    }
    let successor = successor(connection, workspace_id.as_str(), user_id.as_str())
        .await?
        .ok_or_else(|| {
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
    leave(connection, departure).await?;
    Ok(true)
}

/// The other member that has been a user longest.
pub(crate) async fn successor(
    connection: &Connection,
    workspace_id: &str,
    user_id: &str,
) -> Result<Option<String>, StoreError> {
    connection
        .value_opt("SELECT user_id FROM memberships WHERE workspace_id = $1 AND user_id <> $2 ORDER BY user_id LIMIT 1", &[&workspace_id, &user_id]).await
        .map_err(failed("looking for another member"))
}

/// Ends a membership and hands the user's resources in the workspace over.
pub(crate) async fn leave(
    connection: &Connection,
    departure: Departure<'_>,
) -> Result<(), StoreError> {
    let Departure {
        workspace_id,
        user_id,
        successor,
    } = departure;
    let failed = failed("ending a membership");
    emitters::pass_on(connection, departure).await?;
    for table in [
        "sources",
        "workflows",
        "components",
        "component_search",
        "accounts",
        "webhooks",
    ] {
        connection
            .execute(
                &format!(
                    "UPDATE {table} SET user_id = $3 WHERE workspace_id = $1 AND user_id = $2"
                ),
                &[&workspace_id, &user_id, &successor],
            )
            .await
            .map_err(&failed)?;
    }
    // Only members connect accounts to it.
    connection
        .execute(
            "DELETE FROM connects WHERE workspace_id = $1 AND user_id = $2",
            &[&workspace_id, &user_id],
        )
        .await
        .map_err(&failed)?;
    // The successor may have an equal one.
    connection
        .execute(&format!(
                "UPDATE subscriptions SET user_id = $3
                 WHERE user_id = $2 AND listener IN ({LIVES_IN_IT}) AND emitter IN ({LIVES_IN_IT} UNION ALL SELECT $1)
                   AND NOT EXISTS (SELECT 1 FROM subscriptions AS equal
                                   WHERE equal.user_id = $3 AND equal.emitter = subscriptions.emitter
                                     AND equal.listener = subscriptions.listener
                                     AND hash_of(equal.channel) = hash_of(subscriptions.channel)
                                     AND equal.channel = subscriptions.channel)"
            ), &[&workspace_id, &user_id, &successor]).await
        .map_err(&failed)?;
    connection
        .execute(&format!(
                "DELETE FROM subscriptions
                 WHERE user_id = $2 AND (listener IN ({LIVES_IN_IT}) OR emitter IN ({LIVES_IN_IT} UNION ALL SELECT $1))"
            ), &[&workspace_id, &user_id]).await
        .map_err(&failed)?;
    connection
        .execute(
            &format!(
                "DELETE FROM auto_subscriptions WHERE user_id = $2 AND listener IN ({LIVES_IN_IT})"
            ),
            &[&workspace_id, &user_id],
        )
        .await
        .map_err(&failed)?;
    connection
        .execute(
            "DELETE FROM memberships WHERE workspace_id = $1 AND user_id = $2",
            &[&workspace_id, &user_id],
        )
        .await
        .map_err(&failed)
        .map(drop)
}

/// Deletes a workspace without sources, workflows and webhooks.
pub(crate) async fn delete(connection: &Connection, id: &str) -> Result<(), StoreError> {
    components::delete_unused(connection, "workspace_id", id).await?;
    stores::delete_all_of(connection, id).await?;
    let failed = failed("deleting a workspace");
    for sql in [
        "DELETE FROM accounts WHERE workspace_id = $1",
        "DELETE FROM connects WHERE workspace_id = $1",
        "DELETE FROM daily_usage WHERE owner_id = $1",
        "DELETE FROM memberships WHERE workspace_id = $1",
        "DELETE FROM workspaces WHERE id = $1",
    ] {
        connection.execute(sql, &[&id]).await.map_err(&failed)?;
    }
    Ok(())
}
