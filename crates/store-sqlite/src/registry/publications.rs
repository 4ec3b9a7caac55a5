//! The rows of the registry: which component each version of a key is.

use headwater_store::{Publication, Published, SavedComponent, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    components,
    connection::{ExecutePrepared as _, failed},
    row::signed,
};

pub(super) fn publish(
    connection: &Connection,
    publication: &Publication,
) -> Result<Published, StoreError> {
    let failed = failed("publishing a component");
    let (key, rank) = (&publication.key, publication.version.rank());
    let publisher: Option<String> = connection
        .prepare_cached("SELECT publisher FROM registry WHERE key = ? LIMIT 1")
        .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
        .map_err(&failed)?;
    if publisher.is_some_and(|publisher| publisher != publication.publisher.as_str()) {
        return Ok(Published::KeyTaken);
    }
    if let Some(former) = of_rank(connection, key, &rank)? {
        return Ok(match former.code_hash == publication.component.code_hash {
            true => Published::Unchanged(Box::new(former)),
            false => Published::VersionTaken,
        });
    }
    components::add(connection, &publication.component, &publication.artifact)?;
    let inserted = connection.execute_prepared(
        "INSERT INTO registry (key, rank, version, component_id, publisher, published_at) VALUES (?, ?, ?, ?, ?, ?)",
        params![
            key,
            rank,
            publication.version.to_string(),
            publication.component.id.as_str(),
            publication.publisher.as_str(),
            signed(publication.published_at),
        ],
    );
    inserted.map_err(&failed)?;
    Ok(Published::Added)
}

pub(super) fn of_rank(
    connection: &Connection,
    key: &str,
    rank: &str,
) -> Result<Option<SavedComponent>, StoreError> {
    let sql = "SELECT * FROM components
               WHERE id = (SELECT component_id FROM registry WHERE key = ?1 AND rank = ?2)";
    components::one(connection, sql, [key, rank])
}

pub(super) fn winner(
    connection: &Connection,
    key: &str,
) -> Result<Option<SavedComponent>, StoreError> {
    let sql = "SELECT * FROM components
               WHERE id = (SELECT component_id FROM registry WHERE key = ?1 ORDER BY rank DESC LIMIT 1)";
    components::one(connection, sql, [key])
}

pub(super) fn has(connection: &Connection, component_id: &str) -> Result<bool, StoreError> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM registry WHERE component_id = ?)")
        .and_then(|mut statement| statement.query_row([component_id], |row| row.get(0)))
        .map_err(failed("reading the registry"))
}
