//! The catalog: components and sources behind the trait.

use async_trait::async_trait;
use bytes::Bytes;
use headwater_model::{
    endpoint::EndpointToken,
    hash::ArtifactHash,
    id::{ComponentId, SourceId},
    page::{Page, PageRequest},
    time::{EpochMs, EpochSeconds},
};
use headwater_store::{
    ArtifactBytes, Catalog, ListPlace, NewSource, NodeEpoch, Owner, Placed, Progress,
    RunnableFilter, RunnableLease, SavedComponent, SettledSource, Source, SourceOrder, SourceState,
    StoreError,
};

use crate::{components, living, settle, sources, store::PostgresStore};

#[async_trait]
impl Catalog for PostgresStore {
    async fn save_component(
        &self,
        component: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<SavedComponent, StoreError> {
        let (component, artifact) = (&component, &artifact);
        self.write(
            |connection| async move { components::save(&connection, component, artifact).await },
        )
        .await
    }

    async fn delete_component(&self, id: &ComponentId) -> Result<bool, StoreError> {
        self.write(|connection| async move { components::delete(&connection, id.as_str()).await })
            .await
    }

    async fn save_step_component(
        &self,
        component: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<(), StoreError> {
        let (component, artifact) = (&component, &artifact);
        self.write(|connection| async move {
            components::insert(&connection, component, artifact).await
        })
        .await
    }

    async fn component(&self, id: &ComponentId) -> Result<Option<SavedComponent>, StoreError> {
        self.read(|connection| async move { components::by_id(&connection, id.as_str()).await })
            .await
    }

    async fn component_by_key(
        &self,
        owner: &Owner,
        key: &str,
    ) -> Result<Option<SavedComponent>, StoreError> {
        self.read(|connection| async move { components::by_key(&connection, owner, key).await })
            .await
    }

    async fn artifact(&self, hash: &ArtifactHash) -> Result<Option<Bytes>, StoreError> {
        self.read(
            |connection| async move { components::artifact(&connection, hash.as_str()).await },
        )
        .await
    }

    async fn begin_deploy(
        &self,
        source: NewSource,
        epoch: NodeEpoch,
    ) -> Result<(Source, RunnableLease), StoreError> {
        let source = &source;
        self.write(
            |connection| async move { sources::begin_deploy(&connection, source, epoch).await },
        )
        .await
    }

    async fn settle_source(&self, settled: SettledSource) -> Result<Source, StoreError> {
        let settled = &settled;
        self.append(|connection| async move { settle::settle(&connection, settled).await })
            .await
    }

    async fn set_source_state(
        &self,
        lease: &RunnableLease,
        state: SourceState,
    ) -> Result<(), StoreError> {
        self.write(|connection| async move { sources::set_state(&connection, lease, state).await })
            .await
    }

    async fn rename_source(
        &self,
        id: &SourceId,
        name: &str,
        now_at: EpochSeconds,
    ) -> Result<(), StoreError> {
        self.write(|connection| async move { sources::rename(&connection, id, name, now_at).await })
            .await
    }

    async fn empty_source(
        &self,
        lease: &RunnableLease,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        self.write(|connection| async move { sources::empty(&connection, lease, limit).await })
            .await
    }

    async fn delete_source(&self, lease: &RunnableLease) -> Result<(), StoreError> {
        self.write(|connection| async move { sources::delete(&connection, lease).await })
            .await
    }

    async fn source(&self, id: &SourceId) -> Result<Option<Source>, StoreError> {
        self.read(|connection| async move { sources::by_id(&connection, id.as_str()).await })
            .await
    }

    async fn source_by_endpoint(
        &self,
        token: &EndpointToken,
    ) -> Result<Option<Source>, StoreError> {
        self.read(
            |connection| async move { sources::by_endpoint(&connection, token.as_str()).await },
        )
        .await
    }

    async fn sources(
        &self,
        filter: &RunnableFilter,
        page: &PageRequest<SourceId>,
    ) -> Result<Page<Source>, StoreError> {
        self.read(|connection| async move { sources::page(&connection, filter, page).await })
            .await
    }

    async fn sources_in_order(
        &self,
        filter: &RunnableFilter,
        order: SourceOrder,
        page: &PageRequest<ListPlace>,
    ) -> Result<Page<Placed<Source>>, StoreError> {
        self.read(|connection| async move {
            sources::page_in_order(&connection, filter, order, page).await
        })
        .await
    }

    async fn unsettled_sources(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        after: Option<&SourceId>,
        limit: u32,
    ) -> Result<Vec<Source>, StoreError> {
        let after = after.map(SourceId::as_str).unwrap_or_default();
        self.read(|connection| async move {
            let others = living::besides(&connection, epoch, now_ms).await?;
            sources::unsettled(&connection, &others, after, limit).await
        })
        .await
    }
}
