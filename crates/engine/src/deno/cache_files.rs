//! Files of Deno's cache that belong to the bundler, and messages for their failures.

use std::{io, path::Path};

use crate::{api::EngineError, host_failure};

/// Works on files of the cache, off the async threads.
pub(super) async fn on_disk<T: Send + 'static>(
    cache: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, EngineError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(io::Error::other)
        .and_then(|done| done)
        .map_err(|error| unusable(cache, &error))
}

fn unusable(folder: &Path, error: &io::Error) -> EngineError {
    tracing::warn!(folder = %folder.display(), %error, "the bundler cannot be put in place");
    unavailable(&host_failure::in_cache(error))
}

pub(super) fn unavailable(reason: &str) -> EngineError {
    EngineError::Unavailable {
        context: "getting the bundler that builds components".into(),
        reason: format!("{reason} (`headwater runtime install` fetches it beforehand)"),
    }
}
