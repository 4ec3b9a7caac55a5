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

use crate::store::PostgresStore;

#[async_trait]
impl Registry for PostgresStore {
    async fn publish(&self, publication: Publication) -> Result<Published, StoreError> {
        let publication = &publication;
        self.write(
            |connection| async move { publications::publish(&connection, publication).await },
        )
        .await
    }

    async fn published_component(
        &self,
        key: &str,
        version: Option<&ReleaseVersion>,
    ) -> Result<Option<SavedComponent>, StoreError> {
        let rank = &version.map(ReleaseVersion::rank);
        self.read(|connection| async move {
            match rank {
                Some(rank) => publications::of_rank(&connection, key, rank).await,
                None => publications::winner(&connection, key).await,
            }
        })
        .await
    }

    async fn is_published(&self, id: &ComponentId) -> Result<bool, StoreError> {
        self.read(|connection| async move { publications::has(&connection, id.as_str()).await })
            .await
    }

    async fn components(
        &self,
        owner: &Owner,
        filter: &ComponentFilter,
        page: &PageRequest<ComponentId>,
    ) -> Result<Page<ListedComponent>, StoreError> {
        self.read(|connection| async move { search::page(&connection, owner, filter, page).await })
            .await
    }
}
