//! Passing an event on once more, behind the trait.

use async_trait::async_trait;
use headwater_store::{EventListeners, EventReplay, EventReplays, StoreError};

use crate::{dispatch::again, store::SqliteStore};

#[async_trait]
impl EventReplays for SqliteStore {
    async fn replay_event(
        &self,
        replay: &EventReplay,
    ) -> Result<Option<EventListeners>, StoreError> {
        let replay = replay.clone();
        match replay.is_dry {
            true => {
                self.read(move |connection| again::run(connection, &replay))
                    .await
            }
            false => {
                self.write(move |connection| again::run(connection, &replay))
                    .await
            }
        }
    }
}
