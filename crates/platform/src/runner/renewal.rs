//! Props computed again while runs continue: when credentials among them end, or when a run has met a
//! 401 with them.
//!
//! Nothing starts meanwhile. Not responsible for how credentials are renewed, which is `accounts`.

use std::sync::Arc;

use futures::future::BoxFuture;
use headwater_model::id::InvocationId;
use headwater_store::Lease;

use super::{flight::EndedRun, loaded::LoadedSource, run::Cause};
use crate::{actor::InFlight, error::PlatformError};

/// A version read or computed again; `None` if the source is gone or runs on no trigger.
pub(super) type Loaded = Result<Option<Arc<LoadedSource>>, PlatformError>;

/// The way to it.
pub(super) type Loading = BoxFuture<'static, Loaded>;

/// The renewal that is under way.
#[derive(Default)]
pub(super) struct Renewal {
    loading: InFlight<Loaded>,
    /// Whether the accounts of a run that met a 401 have other credentials now.
    rechecking: InFlight<bool>,
    /// Runs that met a 401: they run again if that was the credentials' fault.
    unauthorized: Vec<EndedRun>,
}

/// Its result.
pub(super) enum Renewed {
    Loaded(Loaded),
    /// Whether there are other credentials, and the runs that wait for them.
    Rechecked(bool, Vec<EndedRun>),
}

impl Renewal {
    pub(super) fn is_idle(&self) -> bool {
        self.loading.is_idle() && self.rechecking.is_idle()
    }

    pub(super) fn load(&mut self, loading: Loading) {
        self.loading.start(loading);
    }

    /// Abandons the load under way: its props belong to a former version or record, and are computed again when
    /// they are needed.
    pub(super) fn forget_loading(&mut self) {
        self.loading.abandon();
    }

    /// Rechecks accounts; a run that may be repeated waits for the result.
    pub(super) fn recheck(
        &mut self,
        rechecking: impl FnOnce() -> BoxFuture<'static, bool>,
        waiting: Option<EndedRun>,
    ) {
        if self.rechecking.is_idle() {
            self.rechecking.start(rechecking());
        }
        self.unauthorized.extend(waiting);
    }

    /// Waits until something has come of it; forever if nothing is under way.
    pub(super) async fn next(&mut self) -> Renewed {
        tokio::select! {
            changed = self.rechecking.ended() => {
                Renewed::Rechecked(changed, std::mem::take(&mut self.unauthorized))
            }
            loaded = self.loading.ended() => Renewed::Loaded(loaded),
        }
    }

    /// The leases of the runs that wait.
    pub(super) fn leases(&self) -> impl Iterator<Item = Lease> {
        self.unauthorized
            .iter()
            .filter_map(|ended| match &ended.cause {
                Cause::Invocation(invocation) => invocation.lease.clone(),
                Cause::Hook { .. } => None,
            })
    }

    /// Takes out the waiting run of an invocation that a lease holds.
    pub(super) fn take(&mut self, id: &InvocationId) -> Option<EndedRun> {
        let is_meant = |ended: &EndedRun| match &ended.cause {
            Cause::Invocation(invocation) => {
                invocation.invocation_id == *id && invocation.lease.is_some()
            }
            Cause::Hook { .. } => false,
        };
        let place = self.unauthorized.iter().position(is_meant)?;
        Some(self.unauthorized.remove(place))
    }

    /// Takes out the waiting runs; called when the runner stops.
    pub(super) fn abandon(&mut self) -> Vec<EndedRun> {
        self.loading.abandon();
        self.rechecking.abandon();
        std::mem::take(&mut self.unauthorized)
    }
}
