//! The rows of the registry: which component each version of a key is.

use headwater_store::{Publication, Published, SavedComponent, StoreError};

use crate::{
    components,
    connection::{Connection, failed},
    row::signed,
};

pub(super) async fn publish(
    connection: &Connection,
    publication: &Publication,
) -> Result<Published, StoreError> {
    let failed = failed("publishing a component");
    let (key, rank) = (&publication.key, publication.version.rank());
    let publisher: Option<String> = connection
        .value_opt(
            "SELECT publisher FROM registry WHERE key = $1 LIMIT 1",
            &[&key],
        )
        .await
        .map_err(&failed)?;
    if publisher.is_some_and(|publisher| publisher != publication.publisher.as_str()) {
        return Ok(Published::KeyTaken);
    }
    if let Some(former) = of_rank(connection, key, &rank).await? {
        return Ok(match former.code_hash == publication.component.code_hash {
            true => Published::Unchanged(Box::new(former)),
            false => Published::VersionTaken,
        });
    }
    components::add(connection, &publication.component, &publication.artifact).await?;
    let inserted = connection
        .execute(
            "INSERT INTO registry (key, rank, version, component_id, publisher, published_at) VALUES ($1, $2, $3, $4, $5, $6)",
            &[
                &key,
                &rank,
                &publication.version.to_string(),
                &publication.component.id.as_str(),
                &publication.publisher.as_str(),
                &signed(publication.published_at),
            ],
        )
        .await;
    inserted.map_err(&failed)?;
    Ok(Published::Added)
}

pub(super) async fn of_rank(
    connection: &Connection,
    key: &str,
    rank: &str,
) -> Result<Option<SavedComponent>, StoreError> {
    let sql = "SELECT * FROM components
               WHERE id = (SELECT component_id FROM registry WHERE key = $1 AND rank = $2)";
    components::one(connection, sql, &[&key, &rank]).await
}

pub(super) async fn winner(
    connection: &Connection,
    key: &str,
) -> Result<Option<SavedComponent>, StoreError> {
    let sql = "SELECT * FROM components
               WHERE id = (SELECT component_id FROM registry WHERE key = $1 ORDER BY rank DESC LIMIT 1)";
    components::one(connection, sql, &[&key]).await
}

pub(super) async fn has(connection: &Connection, component_id: &str) -> Result<bool, StoreError> {
    connection
        .value(
            "SELECT EXISTS (SELECT 1 FROM registry WHERE component_id = $1)",
            &[&component_id],
        )
        .await
        .map_err(failed("reading the registry"))
}
