//! Props made again while runs go on: when credentials among them end, or when a run has met a 401 with them.
//!
//! Nothing starts meanwhile. Not responsible for how credentials are renewed, which is `accounts`.

use futures::future::BoxFuture;
use headwater_store::Lease;

use super::{LoadedSource, flight::Ended, run::Task};
use crate::error::PlatformError;

/// A version read or made again; `None` when the source is gone or runs on no trigger.
pub(super) type Loading = BoxFuture<'static, Result<Option<LoadedSource>, PlatformError>>;

/// What is under way.
#[derive(Default)]
pub(super) struct Renewal {
    loading: Option<Loading>,
    /// Whether the accounts that a run met a 401 with have other credentials now.
    doubting: Option<BoxFuture<'static, bool>>,
    /// Runs that met a 401: they run again if that was the credentials' fault.
    doubtful: Vec<Ended>,
}

/// What has come of it.
pub(super) enum Renewed {
    Loaded(Box<Result<Option<LoadedSource>, PlatformError>>),
    /// Whether there are other credentials, and the runs that wait for them.
    Doubted(bool, Vec<Ended>),
}

impl Renewal {
    pub(super) fn is_idle(&self) -> bool {
        self.loading.is_none() && self.doubting.is_none()
    }

    pub(super) fn load(&mut self, loading: Loading) {
        self.loading = Some(loading);
    }

    /// Another version or record counts now: what is being made belongs to the former one, and is made again when it is due.
    pub(super) fn forget_loading(&mut self) {
        self.loading = None;
    }

    /// Waits for what doubts bring; a run that may be made once more waits for it, too.
    pub(super) fn doubt(
        &mut self,
        doubting: impl FnOnce() -> BoxFuture<'static, bool>,
        waiting: Option<Ended>,
    ) {
        self.doubting.get_or_insert_with(doubting);
        self.doubtful.extend(waiting);
    }

    /// Waits until something has come of it; forever if nothing is under way.
    pub(super) async fn next(&mut self) -> Renewed {
        tokio::select! {
            changed = when_there(&mut self.doubting) => {
                self.doubting = None;
                Renewed::Doubted(changed, std::mem::take(&mut self.doubtful))
            }
            loaded = when_there(&mut self.loading) => {
                self.loading = None;
                Renewed::Loaded(Box::new(loaded))
            }
        }
    }

    /// The leases of the runs that wait.
    pub(super) fn leases(&self) -> impl Iterator<Item = Lease> {
        self.doubtful.iter().filter_map(|ended| match &ended.task {
            Task::Work(work) => work.lease.clone(),
            Task::Hook { .. } => None,
        })
    }

    /// The runs that wait, for who waits no more.
    pub(super) fn abandon(&mut self) -> Vec<Ended> {
        self.loading = None;
        self.doubting = None;
        std::mem::take(&mut self.doubtful)
    }
}

async fn when_there<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}
