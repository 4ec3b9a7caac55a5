//! Computing the props of a source, and computing them again: at first, when an account changed or its
//! credentials end, and when a run met a 401 with them.

use std::sync::Arc;

use headwater_model::id::AccountId;
use headwater_store::Trigger;

use super::Actor;
use crate::runner::{
    flight::EndedRun,
    invocation::{CustomResponse, Reply},
    journal,
    loaded::LoadedSource,
    part::{After, RunPart},
    renewal::{Loaded, Loading, Renewed},
    run::Cause,
};

impl Actor {
    /// Reads the recorded version if none was given, and computes the props again if they have become
    /// stale.
    pub(super) async fn refresh(&mut self) {
        let now_at = self.context.core.env.now_at();
        let is_due = |loaded: &Arc<LoadedSource>| loaded.renew_at.is_some_and(|at| at <= now_at);
        let is_current = self
            .loaded
            .as_ref()
            .is_some_and(|it| !self.stale && !is_due(it));
        if !self.queue.has_work() || is_current || !self.renewal.is_idle() {
            return;
        }
        self.stale = false;
        let loading = self.loading();
        // Apps may take their time. Runs in flight and answers of the store must be heard meanwhile; without any, nothing is
        // missed.
        match self.is_quiet() {
            true => {
                let loaded = loading.await;
                self.take_loaded(loaded).await;
            }
            false => self.renewal.load(loading),
        }
    }

    /// Whether props are stale once the account, or whatever it may be, has changed.
    pub(super) fn is_stale_without(&self, account: Option<&AccountId>) -> bool {
        match (account, &self.loaded) {
            (Some(account), Some(loaded)) => !self.renewal.is_idle() || loaded.names(account),
            _ => true,
        }
    }

    fn loading(&self) -> Loading {
        let (context, id, loaded) = (
            Arc::clone(&self.context),
            self.id.clone(),
            self.loaded.clone(),
        );
        Box::pin(async move {
            match loaded {
                None => context.load_recorded(&id).await,
                // The recorded version may differ from the running one: an update may be under way.
                Some(loaded) => {
                    let (source, component) = (loaded.source.clone(), loaded.component.clone());
                    context.load(source, component).await.map(Some)
                }
            }
        })
    }

    async fn take_loaded(&mut self, loaded: Loaded) {
        match loaded {
            Ok(Some(loaded)) => self.loaded = Some(loaded),
            Ok(None) => self.queue.refuse(|| CustomResponse::NotRunning).await,
            Err(error) => {
                tracing::warn!(source_id = %self.id, %error, "the source cannot run now");
                self.stale = true;
                self.queue.refuse(|| CustomResponse::Unavailable).await;
            }
        }
    }

    pub(super) async fn take_renewed(&mut self, renewed: Renewed) {
        match renewed {
            Renewed::Loaded(loaded) => self.take_loaded(loaded).await,
            Renewed::Rechecked(false, waiting) => {
                waiting.into_iter().for_each(|it| self.finish(it))
            }
            Renewed::Rechecked(true, waiting) => {
                self.stale = true;
                // The first of them is to be the first again.
                waiting.into_iter().rev().for_each(|it| self.repeat(it));
            }
        }
    }

    fn repeat(&mut self, ended: EndedRun) {
        let Cause::Invocation(mut invocation) = ended.cause else {
            return;
        };
        self.context
            .core
            .metrics
            .ran(invocation.trigger.into(), &ended.outcome);
        journal::repeats(&self.id, &invocation, &ended.outcome);
        // Its logs show why it is repeated. The work itself stays in the queue.
        self.commits.push(RunPart {
            effects: ended.effects,
            usage: ended.usage,
            lease: None,
            ..RunPart::of(&invocation, After::Nothing)
        });
        // It did not lose its worker, and is not a suspect.
        invocation.tries -= 1;
        invocation.repeated = true;
        self.queue.push_front(invocation);
    }

    /// Ends a run. If it met a 401, its accounts are looked at; if nothing of it can be seen, it waits
    /// for that and is repeated with other credentials.
    pub(super) fn end(&mut self, ended: EndedRun) {
        if !ended.outcome.is_unauthorized() {
            return self.finish(ended);
        }
        let Cause::Invocation(invocation) = &ended.cause else {
            // A hook is the business of a lifecycle, which fails; the next one is to have other credentials.
            let accounts = self.loaded.as_ref().map(|it| it.accounts.clone());
            let context = Arc::clone(&self.context);
            let rechecking = async move { context.recheck(accounts.unwrap_or_default()).await };
            self.context.core.tasks.spawn(rechecking);
            return self.finish(ended);
        };
        if invocation.accounts.is_empty() || invocation.repeated {
            return self.finish(ended);
        }
        // A response that has left is seen, even if nothing was to be committed before it.
        let is_unseen = match (&invocation.reply, invocation.trigger) {
            (Reply::None, Trigger::Http) => invocation.lease.is_some(),
            _ => true,
        };
        let (context, accounts) = (Arc::clone(&self.context), invocation.accounts.clone());
        let rechecking = || -> futures::future::BoxFuture<'static, bool> {
            Box::pin(async move { context.recheck(accounts).await })
        };
        let is_unseen = is_unseen && !ended.flushed && !ended.stored && ended.effects.is_silent();
        match is_unseen {
            true => self.renewal.recheck(rechecking, Some(ended)),
            false => {
                self.renewal.recheck(rechecking, None);
                self.finish(ended);
            }
        }
    }
}
