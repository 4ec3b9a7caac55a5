//! Saved components and their artifacts.

use bytes::Bytes;
use headwater_model::{
    hash::{ArtifactHash, CodeHash},
    id::ComponentId,
};
use headwater_store::{ArtifactBytes, Conflict, Entity, Owner, SavedComponent, StoreError};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, Params, failed},
    owner,
    registry::{drafts, search},
    row::{get, json, parsed, signed, to_json, unsigned},
};

/// The unpublished component of the same owner, key, code, origin and build that was saved last.
const SAME: &str = "
    SELECT * FROM components
    WHERE code_hash = $1 AND artifact_hash = $2 AND user_id = $3 AND workspace_id IS NOT DISTINCT FROM $4
      AND key IS NOT DISTINCT FROM $5 AND code_url IS NOT DISTINCT FROM $6 AND lock = $7
      AND id IN (SELECT id FROM component_search) AND id NOT IN (SELECT component_id FROM registry)
    ORDER BY id DESC LIMIT 1";

/// Whether something has the component. Only workflows of its owner find it, by its key.
const USED: &str = "
    SELECT 1 FROM sources WHERE component_id = $1
    UNION ALL SELECT 1 FROM source_deployments WHERE component_id = $1
    UNION ALL SELECT 1 FROM registry WHERE component_id = $1
    UNION ALL SELECT 1 FROM deployments
              JOIN workflows ON workflows.id = workflow_id
              JOIN components ON components.id = $1 AND key IS NOT NULL
                             AND (components.user_id = workflows.user_id OR components.workspace_id = workflows.workspace_id)
              WHERE strpos(content, $1) > 0
    LIMIT 1";

pub(crate) async fn save(
    connection: &Connection,
    component: &SavedComponent,
    artifact: &ArtifactBytes,
) -> Result<SavedComponent, StoreError> {
    if let Some(same) = same(connection, component).await? {
        return Ok(same);
    }
    add(connection, component, artifact).await?;
    Ok(component.clone())
}

/// Writes a component, whatever else is there.
pub(crate) async fn add(
    connection: &Connection,
    component: &SavedComponent,
    artifact: &ArtifactBytes,
) -> Result<(), StoreError> {
    insert(connection, component, artifact).await?;
    search::index(connection, component).await
}

/// The component that saving this one would only repeat.
async fn same(
    connection: &Connection,
    component: &SavedComponent,
) -> Result<Option<SavedComponent>, StoreError> {
    let owner = &component.owner;
    let key = &component.description.key;
    let parameters: Params<'_> = &[
        &component.code_hash.as_str(),
        &component.artifact_hash.as_str(),
        &owner.user_id.as_str(),
        &owner.workspace_id.as_ref().map(|id| id.as_str()),
        key,
        &component.code_url,
        &component.lock,
    ];
    let Some(same) = one(connection, SAME, parameters).await? else {
        return Ok(None);
    };
    let stands = match key {
        Some(key) => drafts::stands(connection, owner, key, same.id.as_str()).await?,
        None => true,
    };
    Ok(stands.then_some(same))
}

/// Deletes a component, unless something uses it.
pub(crate) async fn delete(connection: &Connection, id: &str) -> Result<bool, StoreError> {
    let failed = failed("deleting a component");
    if connection.exists(USED, &[&id]).await.map_err(&failed)? {
        return Ok(false);
    }
    for table in ["component_search", "components"] {
        connection
            .execute(&format!("DELETE FROM {table} WHERE id = $1"), &[&id])
            .await
            .map_err(&failed)?;
    }
    Ok(true)
}

/// Writes a component that nobody lists or searches.
pub(crate) async fn insert(
    connection: &Connection,
    component: &SavedComponent,
    artifact: &ArtifactBytes,
) -> Result<(), StoreError> {
    let description = to_json(&component.description)?;
    let failed = failed("saving a component");
    write_artifact(connection, artifact)
        .await
        .map_err(&failed)?;
    connection
        .execute("INSERT INTO components (id, user_id, workspace_id, key, code, code_url, code_hash, artifact_hash, lock,
                                 description, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)", &[&component.id.as_str(), &component.owner.user_id.as_str(), &component.owner.workspace_id.as_ref().map(|id| id.as_str()), &component.description.key, &component.code, &component.code_url, &component.code_hash.as_str(), &component.artifact_hash.as_str(), &component.lock, &description, &signed(component.created_at), &signed(component.updated_at)]).await
        .map_err(&failed)?;
    Ok(())
}

/// Writes an artifact, unless it is there.
pub(crate) async fn write_artifact(
    connection: &Connection,
    artifact: &ArtifactBytes,
) -> Result<(), tokio_postgres::Error> {
    connection
        .execute(
            "INSERT INTO artifacts (hash, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            &[&artifact.hash.as_str(), &&artifact.bytes[..]],
        )
        .await?;
    Ok(())
}

pub(crate) async fn by_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<SavedComponent>, StoreError> {
    one(connection, "SELECT * FROM components WHERE id = $1", &[&id]).await
}

/// Checks that the component of a source is there.
pub(crate) async fn check_there(
    connection: &Connection,
    id: &ComponentId,
) -> Result<(), StoreError> {
    let is_there = connection
        .exists("SELECT 1 FROM components WHERE id = $1", &[&id.as_str()])
        .await
        .map_err(failed("looking a component up"))?;
    match is_there {
        true => Ok(()),
        false => Err(Conflict::Gone(Entity::Component(id.clone())).into()),
    }
}

pub(crate) async fn by_key(
    connection: &Connection,
    owner: &Owner,
    key: &str,
) -> Result<Option<SavedComponent>, StoreError> {
    match drafts::meant(connection, owner, key).await? {
        Some(id) => by_id(connection, &id).await,
        None => Ok(None),
    }
}

pub(crate) async fn one(
    connection: &Connection,
    sql: &str,
    parameters: Params<'_>,
) -> Result<Option<SavedComponent>, StoreError> {
    let failed = failed("reading a component");
    let rows = connection.query(sql, parameters).await.map_err(&failed)?;
    rows.first().map(component).transpose()
}

fn component(row: &Row) -> Result<SavedComponent, StoreError> {
    Ok(SavedComponent {
        id: parsed(row, "id")?,
        owner: owner::of(row)?,
        code: get(row, "code")?,
        code_url: get(row, "code_url")?,
        code_hash: CodeHash::new(get::<String>(row, "code_hash")?),
        artifact_hash: ArtifactHash::new(get::<String>(row, "artifact_hash")?),
        lock: get(row, "lock")?,
        description: json(row, "description")?,
        created_at: unsigned(row, "created_at")?,
        updated_at: unsigned(row, "updated_at")?,
    })
}

/// Deletes the components of a user or workspace, except published ones and those of a source's deployments, which may
/// be another owner's.
pub(crate) async fn delete_unused(
    connection: &Connection,
    owner_column: &'static str,
    owner_id: &str,
) -> Result<(), StoreError> {
    let failed = failed("deleting components");
    for table in ["component_search", "components"] {
        connection
            .execute(&format!(
                    "DELETE FROM {table} WHERE {owner_column} = $1 AND id NOT IN (SELECT component_id FROM sources)
                                           AND id NOT IN (SELECT component_id FROM source_deployments)
                                           AND id NOT IN (SELECT component_id FROM registry)"
                ), &[&owner_id]).await
            .map_err(&failed)?;
    }
    Ok(())
}

pub(crate) async fn artifact(
    connection: &Connection,
    hash: &str,
) -> Result<Option<Bytes>, StoreError> {
    let bytes: Option<Vec<u8>> = connection
        .value_opt("SELECT bytes FROM artifacts WHERE hash = $1", &[&hash])
        .await
        .map_err(failed("reading an artifact"))?;
    Ok(bytes.map(Bytes::from))
}
