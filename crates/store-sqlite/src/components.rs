//! Saved components and their artifacts.

use bytes::Bytes;
use headwater_model::{
    hash::{ArtifactHash, CodeHash},
    id::ComponentId,
};
use headwater_store::{ArtifactBytes, Conflict, Entity, Owner, SavedComponent, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    owner,
    registry::{drafts, search},
    row::{get, json, parsed, signed, to_json, unsigned},
};

/// The unpublished component of the same owner, key, code, origin and build that was saved last.
const SAME: &str = "
    SELECT * FROM components
    WHERE code_hash = ? AND artifact_hash = ? AND user_id = ? AND workspace_id IS ? AND key IS ? AND code_url IS ?
      AND lock = ? AND id IN (SELECT id FROM component_search) AND id NOT IN (SELECT component_id FROM registry)
    ORDER BY id DESC LIMIT 1";

/// Whether something has the component. Only workflows of its owner find it, by its key.
const USED: &str = "
    SELECT 1 FROM sources WHERE component_id = ?1
    UNION ALL SELECT 1 FROM source_deployments WHERE component_id = ?1
    UNION ALL SELECT 1 FROM registry WHERE component_id = ?1
    UNION ALL SELECT 1 FROM deployments
              JOIN workflows ON workflows.id = workflow_id
              JOIN components ON components.id = ?1 AND key IS NOT NULL
                             AND (components.user_id = workflows.user_id OR components.workspace_id = workflows.workspace_id)
              WHERE instr(content, ?1) > 0
    LIMIT 1";

pub(crate) fn save(
    connection: &Connection,
    component: SavedComponent,
    artifact: &ArtifactBytes,
) -> Result<SavedComponent, StoreError> {
    if let Some(same) = same(connection, &component)? {
        return Ok(same);
    }
    add(connection, &component, artifact)?;
    Ok(component)
}

/// Writes a component, whatever else is there.
pub(crate) fn add(
    connection: &Connection,
    component: &SavedComponent,
    artifact: &ArtifactBytes,
) -> Result<(), StoreError> {
    insert(connection, component, artifact)?;
    search::index(connection, component)
}

/// The component that saving this one would only repeat.
fn same(
    connection: &Connection,
    component: &SavedComponent,
) -> Result<Option<SavedComponent>, StoreError> {
    let owner = &component.owner;
    let key = &component.description.key;
    let parameters = params![
        component.code_hash.as_str(),
        component.artifact_hash.as_str(),
        owner.user_id.as_str(),
        owner.workspace_id.as_ref().map(|id| id.as_str()),
        key,
        component.code_url,
        component.lock,
    ];
    let Some(same) = one(connection, SAME, parameters)? else {
        return Ok(None);
    };
    let stands = match key {
        Some(key) => drafts::stands(connection, owner, key, same.id.as_str())?,
        None => true,
    };
    Ok(stands.then_some(same))
}

/// Deletes a component, unless something uses it.
pub(crate) fn delete(connection: &Connection, id: &str) -> Result<bool, StoreError> {
    let failed = failed("deleting a component");
    let is_used = connection
        .prepare_cached(USED)
        .and_then(|mut statement| statement.exists([id]))
        .map_err(&failed)?;
    if is_used {
        return Ok(false);
    }
    for table in ["component_search", "components"] {
        connection
            .execute_prepared(&format!("DELETE FROM {table} WHERE id = ?"), [id])
            .map_err(&failed)?;
    }
    Ok(true)
}

/// Writes a component that nobody lists or searches.
pub(crate) fn insert(
    connection: &Connection,
    component: &SavedComponent,
    artifact: &ArtifactBytes,
) -> Result<(), StoreError> {
    let description = to_json(&component.description)?;
    let failed = failed("saving a component");
    write_artifact(connection, artifact).map_err(&failed)?;
    connection
        .execute_prepared(
        "INSERT INTO components (id, user_id, workspace_id, key, code, code_url, code_hash, artifact_hash, lock,
                                 description, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            component.id.as_str(),
            component.owner.user_id.as_str(),
            component.owner.workspace_id.as_ref().map(|id| id.as_str()),
            component.description.key,
            component.code,
            component.code_url,
            component.code_hash.as_str(),
            component.artifact_hash.as_str(),
            component.lock,
            description,
            signed(component.created_at),
            signed(component.updated_at),
        ],
    )
        .map_err(&failed)?;
    Ok(())
}

/// Writes an artifact, unless it is there.
pub(crate) fn write_artifact(
    connection: &Connection,
    artifact: &ArtifactBytes,
) -> rusqlite::Result<()> {
    connection.execute_prepared(
        "INSERT INTO artifacts (hash, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING",
        params![artifact.hash.as_str(), &artifact.bytes[..]],
    )?;
    Ok(())
}

pub(crate) fn by_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<SavedComponent>, StoreError> {
    one(connection, "SELECT * FROM components WHERE id = ?1", [id])
}

/// Checks that the component of a source is there.
pub(crate) fn check_there(connection: &Connection, id: &ComponentId) -> Result<(), StoreError> {
    let is_there = connection
        .prepare_cached("SELECT 1 FROM components WHERE id = ?")
        .and_then(|mut statement| statement.exists([id.as_str()]))
        .map_err(failed("looking a component up"))?;
    match is_there {
        true => Ok(()),
        false => Err(Conflict::Gone(Entity::Component(id.clone())).into()),
    }
}

pub(crate) fn by_key(
    connection: &Connection,
    owner: &Owner,
    key: &str,
) -> Result<Option<SavedComponent>, StoreError> {
    match drafts::meant(connection, owner, key)? {
        Some(id) => by_id(connection, &id),
        None => Ok(None),
    }
}

pub(crate) fn one(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> Result<Option<SavedComponent>, StoreError> {
    let failed = failed("reading a component");
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query(parameters).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(component).transpose()
}

fn component(row: &Row<'_>) -> Result<SavedComponent, StoreError> {
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
pub(crate) fn delete_unused(
    connection: &Connection,
    owner_column: &'static str,
    owner_id: &str,
) -> Result<(), StoreError> {
    let failed = failed("deleting components");
    for table in ["component_search", "components"] {
        connection
            .execute_prepared(
                &format!(
                    "DELETE FROM {table} WHERE {owner_column} = ? AND id NOT IN (SELECT component_id FROM sources)
                                           AND id NOT IN (SELECT component_id FROM source_deployments)
                                           AND id NOT IN (SELECT component_id FROM registry)"
                ),
                [owner_id],
            )
            .map_err(&failed)?;
    }
    Ok(())
}

pub(crate) fn artifact(connection: &Connection, hash: &str) -> Result<Option<Bytes>, StoreError> {
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bytes FROM artifacts WHERE hash = ?")
        .and_then(|mut statement| statement.query_row([hash], |row| row.get(0)).optional())
        .map_err(failed("reading an artifact"))?;
    Ok(bytes.map(Bytes::from))
}
