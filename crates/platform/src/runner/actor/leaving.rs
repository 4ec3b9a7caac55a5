//! The end of a runner: without work, closed, or with the node.

use headwater_store::Lease;
use tokio::sync::oneshot;

use super::Actor;
use crate::runner::{
    command::{Closing, Command},
    effects::Effects,
    invocation::CustomResponse,
};

impl Actor {
    pub(super) fn leave_if_idle(&self) -> bool {
        let commands = &self.commands;
        let may_leave = || commands.is_empty();
        self.context.residents.remove_if(&self.id, may_leave)
    }

    /// Lets the hooks of a change that failed leave their records, with their logs. Nothing else of them counts.
    fn record_deferred(&mut self) {
        for mut part in self.deferred.drain(..) {
            part.effects = Effects {
                logs: part.effects.logs,
                ..Effects::default()
            };
            self.commits.push(part);
        }
    }

    /// Ends for good: work goes back to the store, runs in flight are abandoned.
    pub(super) async fn leave(mut self: Box<Self>) {
        self.context.endpoints.forget(&self.id.clone().into());
        let (closing, closed) = self.closing.take().unzip();
        for ended in self.renewal.abandon() {
            self.finish(ended);
        }
        if !matches!(closing, Some(Closing::Ended)) {
            self.record_deferred();
            self.flush().await;
        }
        // Not earlier: another runner would go on from a state that these commits move on.
        self.context.residents.remove(&self.id);
        let mut waiting: Vec<oneshot::Sender<()>> = closed.into_iter().collect();
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Run(invocation) => self.queue.push(invocation),
                Command::Close(_, closed) | Command::Pause(closed) => waiting.push(closed),
                // Waiters for an answer hear that there is none; the rest is the next runner's.
                Command::Hook(_) | Command::Settle(..) => {}
                Command::Cancel(..) | Command::Logged(..) => {}
                Command::Claim | Command::Load(_) | Command::Reload(_) | Command::Resume => {}
            }
        }
        let response = || match closing {
            Some(Closing::Ended) => CustomResponse::NotRunning,
            Some(Closing::Restarted) | None => CustomResponse::Unavailable,
        };
        self.queue.refuse(response).await;
        let abandoned: Vec<Lease> = self.flight.leases().collect();
        for lease in &abandoned {
            self.context.core.give_back(lease, None).await;
        }
        for closed in waiting {
            let _ = closed.send(());
        }
    }
}
