//! Starting runs: the choice of the next one, of its worker and its props.

use headwater_engine::{Entry, Invocation};
use headwater_model::{id::InvocationId, outcome::Outcome};
use serde_json::value::RawValue;

use super::Actor;
use crate::runner::{
    effects::configuration_error,
    flight::EndedRun,
    hook::{HookCall, HookEnded},
    invocation::QueuedInvocation,
    journal,
    loaded::LoadedSource,
    run::Cause,
};

impl Actor {
    /// Starts the runs that may start now. A run that lost a worker before runs alone, so that no other
    /// run pays for it.
    pub(super) fn start_waiting(&mut self, loaded: &LoadedSource) {
        if self.flight.has_suspect() {
            return;
        }
        if self.queue.has_suspect() {
            if self.flight.is_empty()
                && let Some(invocation) = self.queue.take_suspect()
            {
                self.start(loaded, invocation);
            }
            return;
        }
        let user_id = &loaded.source.owner.user_id;
        while self.flight.serial() == 0
            && let Some(invocation) = self
                .queue
                .next_serial(|of, waiting| self.context.quotas.admit_run(user_id, of, waiting))
        {
            self.start(loaded, invocation);
        }
        while !self.commits.is_behind()
            && self.flight.http() < self.context.core.config.source_concurrency
            && let Some(invocation) = self.queue.next_concurrent()
        {
            self.start(loaded, invocation);
        }
    }

    /// Lets ticks and events ask for a place in the quota of the source's user.
    pub(super) async fn know_quota(&mut self, loaded: &LoadedSource) {
        if self.queue.awaits_admission()
            && let Err(error) = self
                .context
                .quotas
                .read_taken(&loaded.source.owner.user_id)
                .await
        {
            tracing::warn!(source = %self.id, %error, "cannot determine the remaining quota");
        }
    }

    pub(super) fn start(&mut self, loaded: &LoadedSource, mut invocation: QueuedInvocation) {
        invocation.tries += 1;
        invocation.accounts.clone_from(&loaded.accounts);
        if let Some(reason) = &loaded.broken {
            let outcome = Outcome::Threw {
                error: configuration_error(reason),
            };
            let effects = Default::default();
            let usage = Default::default();
            let trace = invocation.origin.trace;
            return self.end(EndedRun {
                cause: Cause::Invocation(invocation),
                effects,
                outcome,
                usage,
                flushed: true,
                stored: false,
                began: true,
                started_at_ms: self.context.core.env.now_ms(),
                response: None,
                trace,
            });
        }
        journal::begins(&self.id, &invocation);
        let event = invocation.event.clone();
        let props = loaded.props.clone();
        let worker = loaded.worker(&self.context.core.store, self.commits.map_state());
        let span = journal::span(
            &self.context.core,
            &self.id,
            "run",
            &invocation.invocation_id,
            &invocation.origin,
        );
        let owner = loaded.source.owner.clone();
        self.flight
            .start(Cause::Invocation(invocation), span, owner, worker, |run| {
                Invocation {
                    run,
                    entry: Entry::Run,
                    event,
                    props,
                    wall: None,
                }
            });
    }

    pub(super) fn start_hook(&mut self, call: HookCall) {
        let HookCall {
            hook,
            origin,
            hold,
            ended,
        } = call;
        let Some(loaded) = self.loaded.clone().filter(|loaded| loaded.has_hook(hook)) else {
            let _ = ended.send(HookEnded::not_there());
            return;
        };
        if let Some(reason) = &loaded.broken {
            let _ = ended.send(HookEnded::broken(reason));
            return;
        }
        self.context.quotas.count_hook(&loaded.source.owner.user_id);
        let worker = loaded.worker(&self.context.core.store, self.commits.map_state());
        let invocation_id = self.context.core.env.id(InvocationId::new);
        journal::hook_begins(&self.id, &invocation_id, &origin, hook);
        let span = journal::span(
            &self.context.core,
            &self.id,
            hook.name(),
            &invocation_id,
            &origin,
        );
        let cause = Cause::Hook {
            hook,
            invocation_id,
            origin,
            hold,
            ended,
        };
        let owner = loaded.source.owner.clone();
        self.flight
            .start(cause, span, owner, worker, |run| Invocation {
                run,
                entry: Entry::Hook { name: hook },
                event: RawValue::NULL.to_owned().into(),
                props: loaded.props.clone(),
                wall: None,
            });
    }
}
