//! Published components.

pub(crate) mod drafts;
pub(crate) mod search;

use async_trait::async_trait;
use headwater_model::{
    id::ComponentId,
    page::{Page, PageRequest},
    version::ReleaseVersion,
};
use headwater_store::{
    ComponentFilter, ListedComponent, Owner, Publication, Published, Registry, SavedComponent,
    StoreError,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{components, connection::failed, row::signed, store::SqliteStore};

#[async_trait]
impl Registry for SqliteStore {
    async fn publish(&self, publication: Publication) -> Result<Published, StoreError> {
        self.write(move |connection| publish(connection, &publication))
            .await
    }

    async fn published_component(
        &self,
        key: &str,
        version: Option<&ReleaseVersion>,
    ) -> Result<Option<SavedComponent>, StoreError> {
        let (key, rank) = (key.to_owned(), version.map(ReleaseVersion::rank));
        self.read(move |connection| match &rank {
            Some(rank) => of_rank(connection, &key, rank),
            None => winner(connection, &key),
        })
        .await
    }

    async fn is_published(&self, id: &ComponentId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM registry WHERE component_id = ?)")
                .and_then(|mut statement| statement.query_row([id.as_str()], |row| row.get(0)))
                .map_err(failed("reading the registry"))
        })
        .await
    }

    async fn components(
        &self,
        owner: &Owner,
        filter: &ComponentFilter,
        page: &PageRequest<ComponentId>,
    ) -> Result<Page<ListedComponent>, StoreError> {
        let (owner, filter, page) = (owner.clone(), filter.clone(), page.clone());
        self.read(move |connection| search::page(connection, &owner, &filter, &page))
            .await
    }
}

fn publish(connection: &Connection, publication: &Publication) -> Result<Published, StoreError> {
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
    components::save(connection, &publication.component, &publication.artifact)?;
    let inserted = connection.execute(
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

fn of_rank(
    connection: &Connection,
    key: &str,
    rank: &str,
) -> Result<Option<SavedComponent>, StoreError> {
    let sql = "SELECT * FROM components
               WHERE id = (SELECT component_id FROM registry WHERE key = ?1 AND rank = ?2)";
    components::one(connection, sql, &[key, rank])
}

fn winner(connection: &Connection, key: &str) -> Result<Option<SavedComponent>, StoreError> {
    let sql = "SELECT * FROM components
               WHERE id = (SELECT component_id FROM registry WHERE key = ?1 ORDER BY rank DESC LIMIT 1)";
    components::one(connection, sql, &[key])
}
