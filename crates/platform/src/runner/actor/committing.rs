//! Commits of runs that ended, and of a change of the source's life.

use std::sync::Arc;

use headwater_store::{Conflict, SettledSource, Source, StoreError};
use tokio::sync::oneshot;

use super::Actor;
use crate::{
    changes::Change,
    chore::Chore,
    error::PlatformError,
    runner::{command::Closing, commits::Batch, invocation::CustomResponse},
};

impl Actor {
    /// Takes the lease of the source and reads the state that every commit moves on. A source that
    /// another node runs, or that is gone, has no runner here.
    pub(super) async fn open(&mut self) {
        let runnable = self.id.clone().into();
        let opened = async {
            let lease = self.context.leases.of(&runnable).await?;
            let state = self.context.core.store.dedupe_state(&runnable).await?;
            Ok::<_, StoreError>((lease, state))
        };
        match opened.await {
            Ok((lease, state)) => {
                self.commits.reset(lease.clone(), state);
                self.lease = Some(lease);
            }
            // It was deleted after something was queued for it.
            Err(StoreError::Conflict(Conflict::Gone(_))) => self.close(),
            Err(error) => {
                tracing::error!(source_id = %self.id, %error, "the source cannot run on this node now");
                self.close();
            }
        }
    }

    /// Continues from the state that a settlement has left.
    async fn read_dedupe_state(&mut self) {
        let runnable = self.id.clone().into();
        match self.context.core.store.dedupe_state(&runnable).await {
            Ok(state) => self.commits.resume(state),
            Err(error) => {
                tracing::error!(source_id = %self.id, %error, "the dedupe state cannot be read");
                self.close();
            }
        }
    }

    fn close(&mut self) {
        self.closing = Some((Closing::Restarted, oneshot::channel().0));
    }

    pub(super) async fn committed(&mut self, batch: Batch) {
        let (has_events, has_scheduled) = (batch.has_events(), batch.has_scheduled());
        if let Err(abandoned) = self.commits.finish(batch) {
            // The store refused: the state that this node holds of the source is no longer true.
            self.evict();
            self.context.leases.forget(&self.id.clone().into());
            self.open().await;
            for lease in &abandoned {
                self.context.core.give_back(lease, None).await;
                self.queue.wake();
            }
        }
        if let Some(loaded) = &self.loaded {
            self.context.core.tell(Change::of_source(&loaded.source));
        }
        let deferred = self.deferred.iter();
        let deferred = deferred.filter_map(|part| part.effects.first_write());
        self.commits.forget_writes(|| {
            deferred
                .chain([self.flight.first_write()])
                .min()
                .unwrap_or(0)
        });
        if has_events {
            self.context.core.nudges.nudge(Chore::Dispatch);
        }
        if has_scheduled {
            self.context.core.nudges.nudge(Chore::Release);
        }
    }

    /// Commits everything that has ended.
    pub(super) async fn flush(&mut self) {
        while !self.commits.is_idle() {
            let Some(loaded) = &self.loaded else { return };
            self.commits.hurry();
            self.commits
                .start(&loaded.source, self.context.core.env.now_ms());
            if let Some(batch) = self.commits.next().await {
                self.committed(batch).await;
            }
        }
    }

    pub(super) async fn settle(
        &mut self,
        mut settled: Box<SettledSource>,
    ) -> Result<Source, PlatformError> {
        self.flush().await;
        if !settled.active {
            self.queue.refuse(|| CustomResponse::NotRunning).await;
        }
        let loaded = self
            .loaded
            .clone()
            .ok_or_else(|| PlatformError::Internal("nothing is loaded".to_owned()))?;
        self.renewal.forget_loading();
        let tallies;
        (settled.commits, tallies) =
            self.commits
                .enter_deferred(&loaded.source, &mut self.deferred, settled.now_ms);
        let source = match self.context.core.store.settle_source(*settled).await {
            Ok(source) => source,
            Err(error) => {
                // Nothing of the hooks is written, and their events count for no later run.
                self.read_dedupe_state().await;
                return Err(error.into());
            }
        };
        self.deferred.clear();
        for tally in &tallies {
            self.context.core.metrics.committed(tally);
        }
        self.loaded = Some(Arc::new(loaded.settled(source.clone())));
        self.read_dedupe_state().await;
        self.context.endpoints.forget(&self.id.clone().into());
        Ok(source)
    }
}
