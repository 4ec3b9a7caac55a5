//! Sources that a dead node left in the middle of a deployment, an update or a deletion.

use std::sync::Arc;

use headwater_model::id::SourceId;
use headwater_store::{SettledSource, Source, SourceState, StoreError};

use crate::{chore::Chore, error::PlatformError, platform::Platform};

/// Sources settled per step.
const BATCH: u32 = 100;

impl Platform {
    /// Settles every source that a dead node left unsettled: a deployment is undone, an update goes
    /// back to the recorded version, a deletion goes on.
    pub(crate) async fn recover_sources(self: &Arc<Self>) -> Result<(), PlatformError> {
        let mut last: Option<SourceId> = None;
        loop {
            let batch = self.unsettled_sources(last.as_ref()).await?;
            let Some(of_batch) = batch.last() else {
                return Ok(());
            };
            last = Some(of_batch.id.clone());
            self.recover_batch(batch).await?;
        }
    }

    async fn unsettled_sources(&self, after: Option<&SourceId>) -> Result<Vec<Source>, StoreError> {
        let (epoch, now_ms) = (self.core.epoch, self.core.env.now_ms());
        let store = &self.core.store;
        store.unsettled_sources(epoch, now_ms, after, BATCH).await
    }

    async fn recover_batch(self: &Arc<Self>, batch: Vec<Source>) -> Result<(), PlatformError> {
        for source in batch {
            let _turn = self.lifecycles.lock(&source.id.clone().into()).await;
            // A change of this start may have been under way when the list was read; it has settled its
            // own.
            let Some(source) = self.core.store.source(&source.id).await? else {
                continue;
            };
            if matches!(source.state, SourceState::Active | SourceState::Inactive) {
                continue;
            }
            tracing::info!(source_id = %source.id, state = ?source.state, "settling the leftovers of a former start");
            if let Err(error) = self.recover(&source).await {
                tracing::error!(source_id = %source.id, %error, "could not be settled");
            }
        }
        Ok(())
    }

    async fn recover(self: &Arc<Self>, source: &Source) -> Result<(), PlatformError> {
        match source.state {
            SourceState::Deploying => {
                let component = self.core.component_of(source).await?;
                // The progress of its hooks died with the node.
                self.undo_deploy(source, &component, true).await
            }
            SourceState::Updating => {
                // It may have been inactive, with none of its timers scheduled.
                let settled = SettledSource::new(
                    self.leases.of(&source.id.clone().into()).await?,
                    source.spec.clone(),
                    true,
                    self.core.env.now_ms(),
                );
                let source = self.core.store.settle_source(settled).await?;
                self.core.nudges.nudge(Chore::Timers);
                self.reactivate(&source).await
            }
            SourceState::Deleting => self.finish_deletion(source).await,
            SourceState::Active | SourceState::Inactive => Ok(()),
        }
    }
}
