//! The request that is being served: the work of use cases for it, and log lines meanwhile, carry its
//! origin without every function in between passing it on.

use std::sync::Arc;

use headwater_model::origin::Origin;

tokio::task_local! {
    static ORIGIN: Origin;
}

/// Does something on behalf of a request.
pub async fn on_behalf_of<T>(origin: Origin, doing: impl Future<Output = T>) -> T {
    ORIGIN.scope(origin, doing).await
}

/// On whose behalf this is done; nobody's, outside [`on_behalf_of`]. Tasks that are spawned do not inherit it.
pub fn origin() -> Origin {
    ORIGIN.try_with(Origin::clone).unwrap_or_default()
}

/// The id of the request that is being served, for lines of the log.
pub fn request_id() -> Option<Arc<str>> {
    ORIGIN
        .try_with(|origin| origin.request_id.clone())
        .ok()
        .flatten()
}
