//! The end of a run: put off, started again, or committed.

use headwater_model::origin::Origin;

use super::Actor;
use crate::runner::{
    flight::EndedRun,
    hook::HookEnded,
    invocation::{CustomResponse, Reply},
    journal,
    part::{After, RunPart},
    run::Cause,
};

impl Actor {
    pub(super) fn finish(&mut self, ended: EndedRun) {
        let EndedRun {
            trace,
            cause,
            effects,
            outcome,
            usage,
            flushed,
            stored: _,
            began,
            started_at_ms,
        } = ended;
        let ended_at_ms = self.context.core.env.now_ms();
        let trigger = cause.trigger();
        match cause {
            Cause::Hook {
                hook: _,
                invocation_id,
                origin,
                hold,
                ended,
            } => {
                let origin = Origin { trace, ..origin };
                let told = {
                    let loaded = self.loaded.as_deref();
                    let strategy = loaded.and_then(|loaded| loaded.source.spec.dedupe);
                    HookEnded::of(outcome, &effects, hold, strategy)
                };
                let part = RunPart::of_hook(trigger, invocation_id, origin, started_at_ms);
                let part = RunPart {
                    effects,
                    outcome: Some(told.outcome.clone()),
                    usage,
                    ended_at_ms,
                    ..part
                };
                // Told now: the held effects of a failed deployment are never committed.
                self.context.core.metrics.ran(trigger, &told.outcome);
                journal::ended(&self.id, &part, &told.outcome);
                match hold {
                    true => self.deferred.push(part),
                    false => self.commits.push(part),
                }
                let _ = ended.send(told);
            }
            Cause::Invocation(invocation) if !began && invocation.is_owed() => {
                self.context.core.metrics.not_started();
                journal::put_off(&self.id, &invocation, &outcome);
                self.queue.put_off(invocation);
            }
            Cause::Invocation(invocation) if !flushed && invocation.is_retried(&outcome) => {
                self.context.core.metrics.ran(trigger, &outcome);
                journal::lost(&self.id, &invocation, &outcome);
                self.queue.push_front(invocation);
            }
            Cause::Invocation(mut invocation) => {
                invocation.origin.trace = trace;
                let after = match std::mem::replace(&mut invocation.reply, Reply::None) {
                    Reply::None => After::Nothing,
                    Reply::Report(report) => After::Report(report),
                    Reply::Response(reply) => {
                        let _ = reply.send(CustomResponse::of(&outcome));
                        After::Nothing
                    }
                };
                self.commits.push(RunPart {
                    effects,
                    outcome: Some(invocation.given_up(outcome)),
                    usage,
                    started_at_ms,
                    ended_at_ms,
                    ..RunPart::last(invocation, after)
                });
            }
        }
    }
}
