//! Cancelling a run: one that waits is handed to whoever asks, one under way ends with its worker.

use std::sync::Arc;

use headwater_model::{id::InvocationId, outcome::Outcome};
use tokio::sync::oneshot;

use super::Actor;
use crate::{
    actor::CANCELLED,
    runner::{
        effects::Effects,
        flight::EndedRun,
        found::Found,
        invocation::Reply,
        part::{After, RunPart},
        run::Cause,
    },
};

impl Actor {
    /// Finds the run wherever it is in memory. One under way ends now: what it did since its last commit counts for
    /// nothing, and its worker goes, with the values that it wrote.
    pub(super) async fn cancel(&mut self, id: &InvocationId) -> Found {
        let Self { queue, flight, .. } = self;
        queue.await_claim(|lease| flight.renew(lease)).await;
        if let Some(invocation) = self.queue.take(id) {
            return Found::Waiting(Box::new(invocation));
        }
        if let Some(ended) = self.flight.cancel(id, CANCELLED) {
            self.evict();
            return self.finish_cancelled(ended);
        }
        if let Some(mut ended) = self.renewal.take(id) {
            let message = CANCELLED.to_owned();
            ended.outcome = Outcome::Cancelled { message };
            return self.finish_cancelled(ended);
        }
        let has_ended = self.commits.leases().any(|of| of.invocation_id == *id);
        match has_ended {
            true => Found::Ended,
            false => Found::Nowhere,
        }
    }

    fn finish_cancelled(&mut self, ended: EndedRun) -> Found {
        let Cause::Invocation(mut invocation) = ended.cause else {
            return Found::Nowhere;
        };
        invocation.origin.trace = ended.trace;
        let (told, committed) = oneshot::channel();
        let reply = std::mem::replace(&mut invocation.reply, Reply::None);
        let report = reply.end(&ended.outcome);
        self.commits.push(RunPart {
            // Its log shows how far it came.
            effects: Effects {
                logs: ended.effects.logs,
                ..Effects::default()
            },
            outcome: Some(ended.outcome),
            usage: ended.usage,
            started_at_ms: ended.started_at_ms,
            ended_at_ms: self.context.core.env.now_ms(),
            response: ended.response,
            time_limit_ms: Some(self.time_limit_ms(false)),
            is_whole: false,
            ..RunPart::of(&invocation, After::Cancelled(told, report))
        });
        Found::UnderWay(committed)
    }

    /// Ends the source's worker. Not awaited here: the engine may be waiting for a start that only this task drives.
    /// Nothing starts meanwhile, so that one end is enough.
    pub(super) fn evict(&mut self) {
        if !self.evicting.is_idle() {
            return;
        }
        let (context, id) = (Arc::clone(&self.context), self.id.clone());
        let evicting = async move { context.core.engine.evict(&id.into()).await };
        let evicting = self.context.core.tasks.spawn(evicting);
        self.evicting.start(async move { drop(evicting.await) });
    }
}
