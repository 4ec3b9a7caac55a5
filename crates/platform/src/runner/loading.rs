//! Loading a source's version: its record, its component, and the final values of its props.

use std::{sync::Arc, time::Duration};

use headwater_model::{id::SourceId, prop};
use headwater_store::{SavedComponent, Source, SourceState};
use serde_json::json;

use super::{context::RunnerContext, loaded::LoadedSource};
use crate::{error::PlatformError, props::FinalProps};

/// The time after which props are computed again whose credentials could not be renewed.
const RENEWED_AFTER: Duration = Duration::from_secs(10);

impl RunnerContext {
    /// Makes a version ready to run.
    ///
    /// # Errors
    /// As [`crate::props::Props::finals`].
    pub(crate) async fn load(
        &self,
        source: Source,
        component: Arc<SavedComponent>,
    ) -> Result<Arc<LoadedSource>, PlatformError> {
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
        Ok(Arc::new(LoadedSource {
            source,
            component,
            props: values,
            broken,
            accounts,
            renew_at: renew_at.map(|at| {
                if at > now_at {
                    at
                } else {
                    now_at + RENEWED_AFTER
                }
            }),
        }))
    }

    /// The recorded version of a source; `None` when it is gone or runs on no trigger.
    pub(crate) async fn load_recorded(
        &self,
        id: &SourceId,
    ) -> Result<Option<Arc<LoadedSource>>, PlatformError> {
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
        let held = self.components.get(&source.spec.component_id);
        let component = match held {
            Some(component) => component,
            None => self
                .components
                .shared(self.core.component_of(&source).await?),
        };
        self.load(source, component).await.map(Some)
    }
}
