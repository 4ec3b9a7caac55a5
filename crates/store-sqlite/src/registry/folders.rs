//! Components of folders: published with the files that they are built from.

use std::collections::BTreeMap;

use async_trait::async_trait;
use headwater_model::id::ComponentId;
use headwater_store::{
    ArtifactBytes, Conflict, Entity, FolderCode, FolderPublication, Folders, Published,
    SavedComponent, StoreError,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{publications, search};
use crate::{
    components,
    connection::{ExecutePrepared as _, failed},
    row::{get, json, to_json},
    store::SqliteStore,
};

#[async_trait]
impl Folders for SqliteStore {
    async fn publish_folder(
        &self,
        folder: FolderPublication,
    ) -> Result<Vec<Published>, StoreError> {
        self.write(move |connection| publish(connection, &folder))
            .await
    }

    async fn folder_code(&self, id: &ComponentId) -> Result<Option<FolderCode>, StoreError> {
        let id = id.clone();
        self.read(move |connection| code(connection, id.as_str()))
            .await
    }

    async fn complete_component(
        &self,
        built: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<SavedComponent, StoreError> {
        self.write(move |connection| complete(connection, built, &artifact))
            .await
    }
}

fn publish(
    connection: &Connection,
    folder: &FolderPublication,
) -> Result<Vec<Published>, StoreError> {
    let mut published = Vec::with_capacity(folder.components.len());
    let mut is_written = false;
    for (entry, publication) in &folder.components {
        let result = publications::publish(connection, publication)?;
        if matches!(result, Published::Added) {
            if !is_written {
                write(connection, folder)?;
                is_written = true;
            }
            let inserted = connection.execute_prepared(
                "INSERT INTO folder_components (component_id, folder, entry) VALUES (?, ?, ?)",
                params![publication.component.id.as_str(), folder.hash, entry],
            );
            inserted.map_err(failed("publishing a folder"))?;
        }
        published.push(result);
    }
    Ok(published)
}

fn write(connection: &Connection, folder: &FolderPublication) -> Result<(), StoreError> {
    let failed = failed("publishing a folder");
    for file in &folder.files {
        let inserted = connection.execute_prepared(
            "INSERT INTO folder_texts (hash, text) VALUES (?, ?) ON CONFLICT DO NOTHING",
            params![file.hash, file.text],
        );
        inserted.map_err(&failed)?;
    }
    let files = folder.files.iter();
    let files: BTreeMap<_, _> = files.map(|file| (&file.path, &file.hash)).collect();
    let inserted = connection.execute_prepared(
        "INSERT INTO folders (hash, files, ranges) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        params![folder.hash, to_json(&files)?, to_json(&folder.ranges)?],
    );
    inserted.map_err(&failed)?;
    Ok(())
}

fn code(connection: &Connection, component_id: &str) -> Result<Option<FolderCode>, StoreError> {
    let failed = failed("reading a component's folder");
    let sql =
        "SELECT entry, folder, ranges FROM folder_components JOIN folders ON folders.hash = folder
               WHERE component_id = ?";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([component_id]).map_err(&failed)?;
    let Some(row) = rows.next().map_err(&failed)? else {
        return Ok(None);
    };
    let folder: String = get(row, "folder")?;
    let sql = "SELECT file.key AS path, text FROM folders, json_each(folders.files) AS file
               JOIN folder_texts ON folder_texts.hash = file.value WHERE folders.hash = ?";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let files = statement
        .query_map([folder], |row| Ok((row.get("path")?, row.get("text")?)))
        .and_then(Iterator::collect);
    Ok(Some(FolderCode {
        entry: get(row, "entry")?,
        files: files.map_err(&failed)?,
        ranges: json(row, "ranges")?,
    }))
}

fn complete(
    connection: &Connection,
    built: SavedComponent,
    artifact: &ArtifactBytes,
) -> Result<SavedComponent, StoreError> {
    let failed = failed("completing a component");
    let id = built.id.as_str();
    let is_unbuilt = connection
        .prepare_cached("SELECT 1 FROM components WHERE id = ? AND artifact_hash = ''")
        .and_then(|mut statement| statement.query_row([id], |_| Ok(())).optional())
        .map_err(&failed)?
        .is_some();
    if is_unbuilt {
        components::write_artifact(connection, artifact).map_err(&failed)?;
        let updated = connection.execute_prepared(
            "UPDATE components SET artifact_hash = ?, lock = ?, description = ? WHERE id = ?",
            params![
                artifact.hash.as_str(),
                built.lock,
                to_json(&built.description)?,
                id
            ],
        );
        updated.map_err(&failed)?;
        connection
            .execute_prepared("DELETE FROM component_search WHERE id = ?", [id])
            .map_err(&failed)?;
        search::index(connection, &built)?;
    }
    let stored = components::by_id(connection, id)?;
    stored.ok_or_else(|| Conflict::Gone(Entity::Component(built.id)).into())
}
