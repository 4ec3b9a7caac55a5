//! Sources that a dead node, or a failure of the store, left in the middle of a deployment, an update or a deletion.

use std::sync::Arc;

use headwater_model::id::SourceId;
use headwater_store::{SettledSource, Source, SourceState, StoreError};

use crate::{chore::Chore, error::PlatformError, platform::Platform};

/// Sources settled per step.
const BATCH: u32 = 100;

impl Platform {
    /// Settles every source that is unsettled and that nobody is changing: a deployment is undone, an update goes
    /// back to the recorded version, a deletion goes on. Returns how many were settled.
    pub(crate) async fn settle_left_sources(self: &Arc<Self>) -> Result<u64, StoreError> {
        let mut last: Option<SourceId> = None;
        let mut settled = 0;
        loop {
            let batch = self.unsettled_sources(last.as_ref()).await?;
            let Some(of_batch) = batch.last() else {
                return Ok(settled);
            };
            last = Some(of_batch.id.clone());
            settled += self.settle_batch(batch).await?;
        }
    }

    async fn unsettled_sources(&self, after: Option<&SourceId>) -> Result<Vec<Source>, StoreError> {
        let (epoch, now_ms) = (self.core.epoch, self.core.env.now_ms());
        let store = &self.core.store;
        store.unsettled_sources(epoch, now_ms, after, BATCH).await
    }

    async fn settle_batch(self: &Arc<Self>, batch: Vec<Source>) -> Result<u64, StoreError> {
        let mut settled = 0;
        for source in batch {
            // A change that is under way settles its own.
            let Some(_turn) = self.lifecycles.try_lock(&source.id.clone().into()) else {
                continue;
            };
            // One may have ended since the list was read.
            let Some(source) = self.core.store.source(&source.id).await? else {
                continue;
            };
            if matches!(source.state, SourceState::Active | SourceState::Inactive) {
                continue;
            }
            tracing::info!(source_id = %source.id, state = ?source.state, "settling a change that did not end");
            match self.settle(&source).await {
                Ok(()) => settled += 1,
                Err(error) => {
                    tracing::error!(source_id = %source.id, %error, "cannot be settled yet");
                }
            }
        }
        Ok(settled)
    }

    async fn settle(self: &Arc<Self>, source: &Source) -> Result<(), PlatformError> {
        match source.state {
            SourceState::Deploying => {
                let component = self.core.component_of(source).await?;
                // The progress of its hooks is not known any more.
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
