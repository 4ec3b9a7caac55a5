//! The end of a run: put off, started again, or committed.

use headwater_model::origin::Origin;
use serde_json::value::RawValue;

use super::Actor;
use crate::runner::{
    flight::EndedRun,
    hook::HookEnded,
    invocation::Reply,
    journal,
    part::{After, RunPart},
    run::{Cause, hook_trigger},
};

impl Actor {
    pub(super) fn finish(&mut self, ended: EndedRun) {
        match ended.cause {
            Cause::Hook { .. } => self.finish_hook(ended),
            Cause::Invocation(invocation) if !ended.began && invocation.is_owed() => {
                self.context.core.metrics.not_started();
                journal::put_off(&self.id, &invocation, &ended.outcome);
                self.queue.put_off(invocation);
            }
            Cause::Invocation(invocation)
                if !ended.flushed && invocation.is_retried(&ended.outcome) =>
            {
                let trigger = invocation.trigger.into();
                self.context.core.metrics.ran(trigger, &ended.outcome);
                journal::lost(&self.id, &invocation, &ended.outcome);
                self.queue.push_front(invocation);
            }
            Cause::Invocation(mut invocation) => {
                invocation.origin.trace = ended.trace;
                let is_whole = !ended.flushed && !invocation.repeated;
                let reply = std::mem::replace(&mut invocation.reply, Reply::None);
                let report = reply.end(&ended.outcome);
                let after = report.map_or(After::Nothing, After::Report);
                // Only an error tells of the event: nothing else of the run needs it while it waits for the store.
                if ended.effects.is_silent() && ended.outcome.error().is_none() {
                    invocation.event = RawValue::NULL.to_owned().into();
                }
                self.commits.push(RunPart {
                    effects: ended.effects,
                    outcome: Some(invocation.given_up(ended.outcome)),
                    usage: ended.usage,
                    started_at_ms: ended.started_at_ms,
                    ended_at_ms: self.context.core.env.now_ms(),
                    response: ended.response,
                    time_limit_ms: Some(self.time_limit_ms(false)),
                    is_whole,
                    ..RunPart::of(&invocation, after)
                });
            }
        }
    }

    /// The time that a run or a hook may take.
    pub(super) fn time_limit_ms(&self, is_hook: bool) -> u64 {
        let limits = &self.context.core.config.run_limits;
        let wall = match is_hook {
            true => limits.hook_wall,
            false => limits.run_wall,
        };
        u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)
    }

    fn finish_hook(&mut self, run: EndedRun) {
        let Cause::Hook {
            hook,
            invocation_id,
            origin,
            hold,
            ended,
        } = run.cause
        else {
            return;
        };
        let trigger = hook_trigger(hook);
        let origin = Origin {
            trace: run.trace,
            ..origin
        };
        let loaded = self.loaded.as_deref();
        let strategy = loaded.and_then(|loaded| loaded.source.spec.dedupe);
        let hook_ended = HookEnded::of(run.outcome, &run.effects, hold, strategy);
        let part = RunPart {
            effects: run.effects,
            outcome: Some(hook_ended.outcome.clone()),
            usage: run.usage,
            ended_at_ms: self.context.core.env.now_ms(),
            time_limit_ms: Some(self.time_limit_ms(true)),
            ..RunPart::begun(trigger, invocation_id, origin, run.started_at_ms)
        };
        // Counted now: the deferred effects of a failed deployment are never committed.
        self.context.core.metrics.ran(trigger, &hook_ended.outcome);
        journal::ended(&self.id, &part, &hook_ended.outcome);
        match hold {
            true => self.deferred.push(part),
            false => self.commits.push(part),
        }
        let _ = ended.send(hook_ended);
    }
}
