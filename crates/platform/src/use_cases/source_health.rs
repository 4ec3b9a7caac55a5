//! The health of the sources of a page.

use std::time::Duration;

use headwater_model::{id::SourceId, time::EpochMs};
use headwater_store::SourceHealth;

use super::sources::SourceView;
use crate::{error::PlatformError, platform::Platform};

/// The time over which runs are counted.
const RECENT: Duration = Duration::from_secs(24 * 60 * 60);

impl Platform {
    /// The health of sources that the caller has been shown, in their order.
    pub async fn sources_health(
        &self,
        sources: &[SourceView],
    ) -> Result<Vec<SourceHealth>, PlatformError> {
        let ids = sources.iter().map(|view| view.source.id.clone());
        let ids: Vec<SourceId> = ids.collect();
        let now_ms = self.core.env.now_ms();
        let since_ms = EpochMs(now_ms.0.saturating_sub(RECENT.as_millis() as u64));
        Ok(self.core.store.sources_health(&ids, since_ms).await?)
    }
}
