//! Published components behind the trait.

pub(crate) mod drafts;
mod folders;
mod publications;
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

use crate::store::SqliteStore;

#[async_trait]
impl Registry for SqliteStore {
    async fn publish(&self, publication: Publication) -> Result<Published, StoreError> {
        self.write(move |connection| publications::publish(connection, &publication))
            .await
    }

    async fn published_component(
        &self,
        key: &str,
        version: Option<&ReleaseVersion>,
    ) -> Result<Option<SavedComponent>, StoreError> {
        let (key, rank) = (key.to_owned(), version.map(ReleaseVersion::rank));
        self.read(move |connection| match &rank {
            Some(rank) => publications::of_rank(connection, &key, rank),
            None => publications::winner(connection, &key),
        })
        .await
    }

    async fn is_published(&self, id: &ComponentId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.read(move |connection| publications::has(connection, id.as_str()))
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
