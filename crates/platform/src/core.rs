//! The ground floor: everything that services share, and nothing that belongs to one of them.

use std::{sync::Arc, time::Duration};

use headwater_engine::Engine;
use headwater_model::time::EpochMs;
use headwater_store::{Lease, LeaseTerm, NodeEpoch, SavedComponent, Source, Store, StoreError};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    aside::Aside,
    changes::{Change, Changes},
    chore::Nudges,
    config::PlatformConfig,
    environment::Environment,
    error::PlatformError,
    metrics::Metrics,
    origin::{on_behalf_of, origin},
    spans::{NewSpan, Span, Tracer},
};

/// The duration of a lease; its holder prolongs it well before its end.
const LEASE: Duration = Duration::from_secs(60);
const REPLACED: &str =
    "another node has taken this one's place; look whether it was done, and try again";
/// The smallest step from one moment to the next.
const MS: Duration = Duration::from_millis(1);

/// The node's store, engine, clock and configuration, with the tasks that it runs.
pub(crate) struct Core {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) env: Environment,
    pub(crate) config: PlatformConfig,
    pub(crate) epoch: NodeEpoch,
    pub(crate) metrics: Metrics,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    /// Tasks that the node's stop waits for.
    pub(crate) tasks: TaskTracker,
    /// For work that takes long, and would keep tasks from being served.
    pub(crate) aside: Aside,
    /// Cancelled when the node is asked to stop.
    pub(crate) stopping: CancellationToken,
    /// Cancelled when another node has taken this one's place: nothing that it still does may be kept.
    pub(crate) replaced: CancellationToken,
    pub(crate) nudges: Nudges,
    /// Told to pages that show what changed.
    pub(crate) changes: Changes,
}

impl Core {
    /// A lease of this node from now. Its end is an even millisecond, and that of a claim an odd one: they are told apart.
    pub(crate) fn lease_term(&self) -> LeaseTerm {
        let until_ms = self.env.now_ms() + LEASE;
        LeaseTerm {
            epoch: self.epoch,
            expires_at_ms: EpochMs(until_ms.0 & !1),
        }
    }

    /// The lease of a claim from now, which ends later than that of the claim before it.
    pub(crate) fn claim_term(&self, last_ms: EpochMs) -> LeaseTerm {
        let term = self.lease_term();
        LeaseTerm {
            expires_at_ms: (term.expires_at_ms + MS).max(last_ms + 2 * MS),
            ..term
        }
    }

    /// Prolongs leases of invocations, if there are any, and says until when.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) async fn prolong(&self, leases: &[Lease]) -> Result<EpochMs, StoreError> {
        let until_ms = self.lease_term().expires_at_ms;
        if !leases.is_empty() {
            self.store.extend_leases(leases, until_ms).await?;
        }
        Ok(until_ms)
    }

    /// Gives the lease of an invocation back, to be claimed again at this time or at once; if that fails, it expires.
    pub(crate) async fn give_back(&self, lease: &Lease, later: Option<EpochMs>) {
        if let Err(error) = self.store.release(lease, later).await {
            tracing::debug!(%error, "cannot give a lease back; it will expire");
        }
    }

    /// Tells those who look at a thing that it has changed.
    pub(crate) fn tell(&self, change: Change) {
        self.changes.tell(change, self.env.now_ms());
    }

    /// Begins a span, recorded if the node has a tracer.
    pub(crate) fn begin_span(&self, span: NewSpan<'_>) -> Span {
        Span::begin(self.tracer.as_deref(), span)
    }

    /// Runs work to its end, even if the caller goes away, unless another node takes this one's place. It begins at once; who
    /// waits has no room for it.
    ///
    /// # Errors
    /// Those of the work; `Internal` when it panicked; `Unavailable` when another node has taken this one's place.
    pub(crate) fn to_the_end<T, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, PlatformError>> + Send + use<T, W>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, PlatformError>> + Send + 'static,
    {
        let work = on_behalf_of(origin(), work);
        let replaced = self.replaced.clone();
        let ended = self.tasks.spawn(replaced.run_until_cancelled_owned(work));
        async move {
            let ended = ended.await;
            let ended = ended.map_err(|error| PlatformError::Internal(error.to_string()))?;
            ended.unwrap_or_else(|| Err(PlatformError::Unavailable(REPLACED.to_owned())))
        }
    }

    /// The saved component that a source runs.
    ///
    /// # Errors
    /// `Internal` when it is not in the store.
    pub(crate) async fn component_of(
        &self,
        source: &Source,
    ) -> Result<SavedComponent, PlatformError> {
        let id = &source.spec.component_id;
        let component = self.store.component(id).await?;
        component.ok_or_else(|| {
            PlatformError::Internal(format!(
                "component `{id}` of source `{}` is gone",
                source.id
            ))
        })
    }
}
