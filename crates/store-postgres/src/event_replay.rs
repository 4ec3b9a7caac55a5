//! Passing an event on once more, behind the trait.

use async_trait::async_trait;
use headwater_store::{EventListeners, EventReplay, EventReplays, StoreError};

use crate::{dispatch::again, store::PostgresStore};

#[async_trait]
impl EventReplays for PostgresStore {
    async fn replay_event(
        &self,
        replay: &EventReplay,
    ) -> Result<Option<EventListeners>, StoreError> {
        match replay.is_dry {
            true => {
                self.read(|connection| async move { again::run(&connection, replay).await })
                    .await
            }
            false => {
                self.append(|connection| async move { again::run(&connection, replay).await })
                    .await
            }
        }
    }
}
