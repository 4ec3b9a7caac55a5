//! A source's version with everything that a run of it needs.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use headwater_engine::{EngineError, Hook, WorkerSpec, WorkerState};
use headwater_model::{
    id::{AccountId, SourceId},
    outcome::ComponentError,
    prop,
};
use headwater_store::{SavedComponent, Source, SourceState, Store};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::{commits::Commits, context::RunnerContext, map_size::MapSize};
use crate::{accounts::UsedAccount, artifact::artifact, error::PlatformError, props::FinalProps};

/// After how many seconds props are made again whose credentials could not be renewed.
const RENEWED_AFTER_S: u64 = 10;

/// A source, its component and the final values of its props.
pub(crate) struct LoadedSource {
    pub(crate) source: Source,
    pub(crate) component: SavedComponent,
    /// Defaults filled in, secrets opened, credentials and endpoints in place.
    pub(crate) props: Map<String, Value>,
    /// Why no run of it can succeed, if an account is gone or refused.
    pub(crate) broken: Option<String>,
    /// The accounts whose credentials are among the props.
    pub(crate) accounts: Vec<UsedAccount>,
    /// When the props are to be made again because credentials end, in epoch seconds.
    pub(crate) renew_at: Option<u64>,
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
            component: self.component.clone(),
            props: self.props.clone(),
            broken: self.broken.clone(),
            accounts: self.accounts.clone(),
            renew_at: self.renew_at,
        }
    }

    /// The worker that runs this version, whose writes are in these commits.
    pub(super) fn worker(&self, store: &Arc<dyn Store>, commits: &Commits) -> WorkerSpec {
        let id = &self.source.id;
        WorkerSpec {
            owner: id.clone().into(),
            tenant: self.source.owner.tenant().into(),
            artifact_hash: self.source.spec.artifact_hash.clone(),
            env: BTreeMap::from([("PD_COMPONENT".to_owned(), id.to_string())]),
            state: Arc::new(StoredState {
                store: Arc::clone(store),
                source_id: id.clone(),
                artifact_hash: self.source.spec.artifact_hash.clone(),
                uncommitted: commits.uncommitted(),
                map_size: commits.map_size(),
            }),
        }
    }
}

/// What a run of a broken source ends with.
pub(super) fn configuration_error(reason: &str) -> ComponentError {
    ComponentError {
        name: "ConfigurationError".to_owned(),
        message: reason.to_owned(),
        ..ComponentError::default()
    }
}

/// What a fresh worker needs, from the store.
struct StoredState {
    store: Arc<dyn Store>,
    source_id: SourceId,
    artifact_hash: String,
    /// Counts what the store does not have yet.
    uncommitted: watch::Receiver<usize>,
    map_size: MapSize,
}

#[async_trait]
impl WorkerState for StoredState {
    async fn artifact(&self) -> Result<Bytes, EngineError> {
        artifact(&*self.store, &self.artifact_hash).await
    }

    async fn key_values(&self) -> Result<Map<String, Value>, EngineError> {
        // A former worker's last runs may have ended but not be committed: the map must have them.
        let mut uncommitted = self.uncommitted.clone();
        let _ = uncommitted.wait_for(|count| *count == 0).await;
        let loaded = self.store.key_values(&self.source_id).await;
        let map = loaded.map_err(|error| EngineError::Unavailable {
            context: "loading the key-value store".to_owned(),
            reason: error.to_string(),
        })?;
        self.map_size.begin(&map);
        Ok(map)
    }
}

impl RunnerContext {
    /// Makes a version ready to run.
    ///
    /// # Errors
    /// As [`crate::props::Props::finals`].
    pub(crate) async fn load(
        &self,
        source: Source,
        component: SavedComponent,
    ) -> Result<LoadedSource, PlatformError> {
        let definitions = prop::merge(&component.description.props, &source.spec.dynamic_props);
        let now_at = self.core.env.now_at();
        let FinalProps {
            mut values,
            broken,
            accounts,
            renew_at,
        } = self
            .props
            .finals(&definitions, &source.spec.configured_props)
            .await?;
        for endpoint in &source.spec.endpoints {
            values.insert(
                endpoint.prop.clone(),
                json!({ "endpoint": self.core.config.endpoint_url(&endpoint.token) }),
            );
        }
        for timer in &source.spec.timers {
            values.insert(timer.prop.clone(), timer.schedule.to_value());
        }
        Ok(LoadedSource {
            source,
            component,
            props: values,
            broken,
            accounts,
            renew_at: renew_at.map(|at| {
                if at > now_at {
                    at
                } else {
                    now_at + RENEWED_AFTER_S
                }
            }),
        })
    }

    /// The recorded version of a source; `None` when it is gone or runs on no trigger.
    pub(crate) async fn load_recorded(
        &self,
        id: &SourceId,
    ) -> Result<Option<LoadedSource>, PlatformError> {
        let source = self.core.store.source(id).await?;
        let runs = |source: &Source| {
            matches!(
                source.state,
                SourceState::Active | SourceState::Updating | SourceState::Deploying
            )
        };
        let Some(source) = source.filter(runs) else {
            return Ok(None);
        };
        let component = self.core.component_of(&source).await?;
        self.load(source, component).await.map(Some)
    }
}
