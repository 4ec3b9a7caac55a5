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

use crate::{components, settle, sources, store::SqliteStore};

#[async_trait]
impl Catalog for SqliteStore {
    async fn save_component(
        &self,
        component: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<SavedComponent, StoreError> {
        self.write(move |connection| components::save(connection, component, &artifact))
            .await
    }

    async fn delete_component(&self, id: &ComponentId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |connection| components::delete(connection, id.as_str()))
            .await
    }

    async fn save_step_component(
        &self,
        component: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<(), StoreError> {
        self.write(move |connection| components::insert(connection, &component, &artifact))
            .await
    }

    async fn component(&self, id: &ComponentId) -> Result<Option<SavedComponent>, StoreError> {
        let id = id.clone();
        self.read(move |connection| components::by_id(connection, id.as_str()))
            .await
    }

    async fn component_by_key(
        &self,
        owner: &Owner,
        key: &str,
    ) -> Result<Option<SavedComponent>, StoreError> {
        let (owner, key) = (owner.clone(), key.to_owned());
        self.read(move |connection| components::by_key(connection, &owner, &key))
            .await
    }

    async fn artifact(&self, hash: &ArtifactHash) -> Result<Option<Bytes>, StoreError> {
        let hash = hash.clone();
        self.read(move |connection| components::artifact(connection, hash.as_str()))
            .await
    }

    async fn begin_deploy(
        &self,
        source: NewSource,
        epoch: NodeEpoch,
    ) -> Result<(Source, RunnableLease), StoreError> {
        let living = self.living.clone();
        self.write(move |connection| sources::begin_deploy(connection, &living, &source, epoch))
            .await
    }

    async fn settle_source(&self, settled: SettledSource) -> Result<Source, StoreError> {
        let living = self.living.clone();
        self.write(move |connection| settle::settle(connection, &living, &settled))
            .await
    }

    async fn set_source_state(
        &self,
        lease: &RunnableLease,
        state: SourceState,
    ) -> Result<(), StoreError> {
        let (living, lease) = (self.living.clone(), lease.clone());
        self.write(move |connection| sources::set_state(connection, &living, &lease, state))
            .await
    }

    async fn rename_source(
        &self,
        id: &SourceId,
        name: &str,
        now_at: EpochSeconds,
    ) -> Result<(), StoreError> {
        let (id, name) = (id.clone(), name.to_owned());
        self.write(move |connection| sources::rename(connection, &id, &name, now_at))
            .await
    }

    async fn empty_source(
        &self,
        lease: &RunnableLease,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        let (living, lease) = (self.living.clone(), lease.clone());
        self.write(move |connection| sources::empty(connection, &living, &lease, limit))
            .await
    }

    async fn delete_source(&self, lease: &RunnableLease) -> Result<(), StoreError> {
        let (living, lease) = (self.living.clone(), lease.clone());
        self.write(move |connection| sources::delete(connection, &living, &lease))
            .await
    }

    async fn source(&self, id: &SourceId) -> Result<Option<Source>, StoreError> {
        let id = id.clone();
        self.read(move |connection| sources::by_id(connection, id.as_str()))
            .await
    }

    async fn source_by_endpoint(
        &self,
        token: &EndpointToken,
    ) -> Result<Option<Source>, StoreError> {
        let token = token.clone();
        self.read(move |connection| sources::by_endpoint(connection, token.as_str()))
            .await
    }

    async fn sources(
        &self,
        filter: &RunnableFilter,
        page: &PageRequest<SourceId>,
    ) -> Result<Page<Source>, StoreError> {
        let (filter, page) = (filter.clone(), page.clone());
        self.read(move |connection| sources::page(connection, &filter, &page))
            .await
    }

    async fn sources_in_order(
        &self,
        filter: &RunnableFilter,
        order: SourceOrder,
        page: &PageRequest<ListPlace>,
    ) -> Result<Page<Placed<Source>>, StoreError> {
        let (filter, page) = (filter.clone(), page.clone());
        self.read(move |connection| sources::page_in_order(connection, &filter, order, &page))
            .await
    }

    async fn unsettled_sources(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        after: Option<&SourceId>,
        limit: u32,
    ) -> Result<Vec<Source>, StoreError> {
        let after = after.map(ToString::to_string).unwrap_or_default();
        let others = self.living.besides(epoch, now_ms);
        self.read(move |connection| sources::unsettled(connection, &others, &after, limit))
            .await
    }
}
