//! Components of folders: published with the files that they are built from.

use std::collections::BTreeMap;

use async_trait::async_trait;
use headwater_model::id::ComponentId;
use headwater_store::{
    ArtifactBytes, Conflict, Entity, FolderCode, FolderPublication, Folders, Published,
    SavedComponent, StoreError,
};

use super::{publications, search};
use crate::{
    components,
    connection::{Connection, failed},
    row::{get, json, to_json},
    store::PostgresStore,
};

#[async_trait]
impl Folders for PostgresStore {
    async fn publish_folder(
        &self,
        folder: FolderPublication,
    ) -> Result<Vec<Published>, StoreError> {
        let folder = &folder;
        self.write(|connection| async move { publish(&connection, folder).await })
            .await
    }

    async fn folder_code(&self, id: &ComponentId) -> Result<Option<FolderCode>, StoreError> {
        self.read(|connection| async move { code(&connection, id.as_str()).await })
            .await
    }

    async fn complete_component(
        &self,
        built: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<SavedComponent, StoreError> {
        let built = &built;
        let artifact = &artifact;
        self.write(|connection| async move { complete(&connection, built, artifact).await })
            .await
    }
}

async fn publish(
    connection: &Connection,
    folder: &FolderPublication,
) -> Result<Vec<Published>, StoreError> {
    let mut published = Vec::with_capacity(folder.components.len());
    let mut is_written = false;
    for (entry, publication) in &folder.components {
        let result = publications::publish(connection, publication).await?;
        if matches!(result, Published::Added) {
            if !is_written {
                write(connection, folder).await?;
                is_written = true;
            }
            let inserted = connection
                .execute(
                    "INSERT INTO folder_components (component_id, folder, entry) VALUES ($1, $2, $3)",
                    &[&publication.component.id.as_str(), &folder.hash, &entry],
                )
                .await;
            inserted.map_err(failed("publishing a folder"))?;
        }
        published.push(result);
    }
    Ok(published)
}

async fn write(connection: &Connection, folder: &FolderPublication) -> Result<(), StoreError> {
    let failed = failed("publishing a folder");
    for file in &folder.files {
        let inserted = connection
            .execute(
                "INSERT INTO folder_texts (hash, text) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                &[&file.hash, &file.text],
            )
            .await;
        inserted.map_err(&failed)?;
    }
    let files = folder.files.iter();
    let files: BTreeMap<_, _> = files.map(|file| (&file.path, &file.hash)).collect();
    let inserted = connection
        .execute(
            "INSERT INTO folders (hash, files, ranges) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            &[&folder.hash, &to_json(&files)?, &to_json(&folder.ranges)?],
        )
        .await;
    inserted.map_err(&failed)?;
    Ok(())
}

async fn code(
    connection: &Connection,
    component_id: &str,
) -> Result<Option<FolderCode>, StoreError> {
    let failed = failed("reading a component's folder");
    let sql =
        "SELECT entry, folder, ranges FROM folder_components JOIN folders ON folders.hash = folder
               WHERE component_id = $1";
    let rows = connection
        .query(sql, &[&component_id])
        .await
        .map_err(&failed)?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let folder: String = get(row, "folder")?;
    let sql =
        "SELECT file.key AS path, text FROM folders, json_each_text(folders.files::json) AS file
               JOIN folder_texts ON folder_texts.hash = file.value WHERE folders.hash = $1";
    let files = connection.query(sql, &[&folder]).await.map_err(&failed)?;
    let files = files
        .iter()
        .map(|row| Ok((get(row, "path")?, get(row, "text")?)));
    Ok(Some(FolderCode {
        entry: get(row, "entry")?,
        files: files.collect::<Result<_, StoreError>>()?,
        ranges: json(row, "ranges")?,
    }))
}

async fn complete(
    connection: &Connection,
    built: &SavedComponent,
    artifact: &ArtifactBytes,
) -> Result<SavedComponent, StoreError> {
    let failed = failed("completing a component");
    let id = built.id.as_str();
    let is_unbuilt = connection
        .exists(
            "SELECT 1 FROM components WHERE id = $1 AND artifact_hash = ''",
            &[&id],
        )
        .await
        .map_err(&failed)?;
    if is_unbuilt {
        components::write_artifact(connection, artifact)
            .await
            .map_err(&failed)?;
        let updated = connection
            .execute(
                "UPDATE components SET artifact_hash = $1, lock = $2, description = $3 WHERE id = $4",
                &[
                    &artifact.hash.as_str(),
                    &built.lock,
                    &to_json(&built.description)?,
                    &id,
                ],
            )
            .await;
        updated.map_err(&failed)?;
        connection
            .execute("DELETE FROM component_search WHERE id = $1", &[&id])
            .await
            .map_err(&failed)?;
        search::index(connection, built).await?;
    }
    let stored = components::by_id(connection, id).await?;
    stored.ok_or_else(|| Conflict::Gone(Entity::Component(built.id.clone())).into())
}
