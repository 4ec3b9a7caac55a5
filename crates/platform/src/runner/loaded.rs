//! A source's version with everything that a run of it needs.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use headwater_engine::{EngineError, Hook, WorkerSpec, WorkerState};
use headwater_model::{
    hash::ArtifactHash,
    id::{AccountId, SourceId},
    time::EpochSeconds,
};
use headwater_store::{SavedComponent, Source, Store};
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::map_size::MapSize;
use crate::{accounts::UsedAccount, artifact::artifact};

/// A source, its component and the final values of its props.
pub(crate) struct LoadedSource {
    pub(crate) source: Source,
    pub(crate) component: Arc<SavedComponent>,
    /// Defaults filled in, secrets opened, credentials and endpoints in place.
    pub(crate) props: Map<String, Value>,
    /// Why no run of it can succeed, if an account is gone or refused.
    pub(crate) broken: Option<String>,
    /// The accounts whose credentials are among the props.
    pub(crate) accounts: Vec<UsedAccount>,
    /// The time to compute the props again because credentials end, in epoch seconds.
    pub(crate) renew_at: Option<EpochSeconds>,
}

impl LoadedSource {
    /// Whether a prop is configured with that account, good or gone.
    pub(super) fn names(&self, account: &AccountId) -> bool {
        let values = self.source.spec.configured_props.values();
        let mut ids = values.filter_map(|value| value.get("authProvisionId")?.as_str());
        ids.any(|id| id == account.as_str())
    }

    /// Whether the component has that hook.
    pub(super) fn has_hook(&self, hook: Hook) -> bool {
        let hooks = self.component.description.hooks;
        match hook {
            Hook::Deploy => hooks.deploy,
            Hook::Activate => hooks.activate,
            Hook::Deactivate => hooks.deactivate,
        }
    }

    /// The same version with the record as it is now.
    pub(super) fn settled(&self, source: Source) -> Self {
        Self {
            source,
            component: Arc::clone(&self.component),
            props: self.props.clone(),
            broken: self.broken.clone(),
            accounts: self.accounts.clone(),
            renew_at: self.renew_at,
        }
    }

    /// The worker that runs this version, whose writes are in these commits.
    pub(super) fn worker(&self, store: &Arc<dyn Store>, map: MapState) -> WorkerSpec {
        let id = &self.source.id;
        WorkerSpec {
            owner: id.clone().into(),
            tenant: self.source.owner.tenant().into(),
            is_isolated: self.source.spec.is_isolated,
            heap_mib: None,
            artifact_hash: self.source.spec.artifact_hash.clone(),
            env: BTreeMap::from([("PD_COMPONENT".to_owned(), id.to_string())]),
            state: Arc::new(StoredState {
                store: Arc::clone(store),
                source_id: id.clone(),
                artifact_hash: self.source.spec.artifact_hash.clone(),
                map,
            }),
        }
    }
}

/// A source's key-value map, as far as a worker that loads it must know of writes under way.
#[derive(Clone)]
pub(super) struct MapState {
    /// Counts the commits that the store does not have yet.
    pub(super) uncommitted: watch::Receiver<usize>,
    pub(super) size: MapSize,
}

/// The needs of a fresh worker, from the store.
struct StoredState {
    store: Arc<dyn Store>,
    source_id: SourceId,
    artifact_hash: ArtifactHash,
    map: MapState,
}

#[async_trait]
impl WorkerState for StoredState {
    async fn artifact(&self) -> Result<Bytes, EngineError> {
        artifact(&*self.store, &self.artifact_hash).await
    }

    async fn key_values(&self) -> Result<Map<String, Value>, EngineError> {
        // A former worker's last runs may have ended but not be committed: the map must have them.
        let mut uncommitted = self.map.uncommitted.clone();
        let _ = uncommitted.wait_for(|count| *count == 0).await;
        let loaded = self.store.key_values(&self.source_id.clone().into()).await;
        let map = loaded.map_err(|error| EngineError::Unavailable {
            context: "loading the key-value store".to_owned(),
            reason: error.to_string(),
        })?;
        self.map.size.begin(&map);
        Ok(map)
    }
}
