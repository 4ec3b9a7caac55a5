//! Work of one source that waits in memory, and claiming more of it from the store.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use headwater_model::id::{InvocationId, SourceId};
use headwater_store::{
    Admission, Claimed, Lane, Lease, RunnableLease, StoreError, Trigger, WorkLimit,
};
use tokio::time::Instant;

use super::{
    context::RunnerContext,
    invocation::{CustomResponse, QueuedInvocation, Reply},
    waiting::Waiting,
};
use crate::actor::{Claims, InFlight};

/// Invocations claimed at once.
const CLAIMED_AT_ONCE: u32 = 64;
/// The number of starts of an invocation without waiting, if nodes end before it does.
const STARTS_AT_ONCE: u32 = 5;
/// The wait of the first start after those; the next one waits twice as long.
const BACKOFF: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(300);

type Claim = Result<(WorkLimit, Vec<Claimed>), StoreError>;

/// The work that waits to be started.
pub(super) struct Queue {
    context: Arc<RunnerContext>,
    id: SourceId,
    /// Timer, event and manual work: one run at a time.
    serial: VecDeque<QueuedInvocation>,
    /// HTTP work: several runs at a time.
    concurrent: VecDeque<QueuedInvocation>,
    claims: Claims,
    claiming: InFlight<Claim>,
    /// Whether the store may have more invocations than were claimed.
    more: bool,
    /// The time at which the first of the waiting work may be started.
    next_due: Option<Instant>,
    /// Shared with those that add work: the work that waits here, and the work on its way.
    waiting: Arc<Waiting>,
}

impl Queue {
    pub(super) fn new(context: Arc<RunnerContext>, id: SourceId, waiting: Arc<Waiting>) -> Self {
        Self {
            context,
            id,
            serial: VecDeque::new(),
            concurrent: VecDeque::new(),
            claims: Claims::default(),
            claiming: InFlight::default(),
            more: false,
            next_due: None,
            waiting,
        }
    }

    /// The store may have more.
    pub(super) fn wake(&mut self) {
        self.more = true;
    }

    /// Whether there is work, in memory or perhaps in the store.
    pub(super) fn has_work(&self) -> bool {
        self.more || !self.serial.is_empty() || !self.concurrent.is_empty()
    }

    /// Whether a claim is under way, so that more work may come in.
    pub(super) fn is_claiming(&self) -> bool {
        !self.claiming.is_idle()
    }

    /// Adds work at the end; it has been counted when it was sent.
    pub(super) fn push(&mut self, invocation: QueuedInvocation) {
        self.next_due = earlier(self.next_due, invocation.not_before);
        self.lane(&invocation).push_back(invocation);
    }

    /// Puts work back that is to be started again.
    pub(super) fn push_front(&mut self, invocation: QueuedInvocation) {
        self.waiting.add(&invocation);
        self.lane(&invocation).push_front(invocation);
    }

    fn lane(&mut self, invocation: &QueuedInvocation) -> &mut VecDeque<QueuedInvocation> {
        match invocation.trigger.lane() {
            Lane::Concurrent => &mut self.concurrent,
            Lane::Serial => &mut self.serial,
        }
    }

    /// Puts work back that no worker could take. It has been acknowledged, so it waits as long as it takes.
    pub(super) fn put_off(&mut self, mut invocation: QueuedInvocation) {
        invocation.tries -= 1;
        invocation.not_before = Some(Instant::now() + BACKOFF);
        match invocation.trigger.lane() {
            Lane::Concurrent => {
                self.waiting.add(&invocation);
                self.push(invocation);
            }
            Lane::Serial => {
                self.next_due = earlier(self.next_due, invocation.not_before);
                self.push_front(invocation);
            }
        }
    }

    /// Whether the next serial work needs a place in the user's quota.
    pub(super) fn awaits_admission(&self) -> bool {
        let next = self.serial.front().filter(|invocation| is_due(invocation));
        next.is_some_and(|invocation| !invocation.is_admitted)
    }

    /// The next serial work. Its order holds: waiting work lets nothing past, except for manual runs
    /// while the rest waits for the quota of another day, or for dispatch. `admit` gives work of a
    /// trigger, of a source with that much waiting work, a place in the quota or says when to ask
    /// again.
    pub(super) fn next_serial(
        &mut self,
        admit: impl FnOnce(Trigger, usize) -> Result<(), Duration>,
    ) -> Option<QueuedInvocation> {
        let waiting = self.waiting.len();
        let first = self
            .serial
            .front_mut()
            .filter(|invocation| is_due(invocation))?;
        let admitted = match first.is_admitted {
            true => Ok(()),
            false => admit(first.trigger, waiting),
        };
        first.is_admitted = admitted.is_ok();
        let place = match admitted {
            Ok(()) => Some(0),
            Err(wait) => {
                self.next_due = earlier(self.next_due, Some(Instant::now() + wait));
                let by_hand =
                    |invocation: &QueuedInvocation| is_due(invocation) && invocation.is_admitted;
                self.serial.iter().position(by_hand)
            }
        };
        let invocation = self.serial.remove(place?);
        self.taken(invocation)
    }

    /// Whether an invocation waits that lost a worker before; such work is always put back in front.
    pub(super) fn has_suspect(&self) -> bool {
        let is_suspect =
            |invocation: &&QueuedInvocation| is_due(invocation) && invocation.tries > 0;
        self.serial
            .front()
            .is_some_and(|invocation| is_suspect(&invocation))
            || self
                .concurrent
                .front()
                .is_some_and(|invocation| is_suspect(&invocation))
    }

    /// Takes work that lost a worker before.
    pub(super) fn take_suspect(&mut self) -> Option<QueuedInvocation> {
        let is_suspect =
            |invocation: &mut QueuedInvocation| is_due(invocation) && invocation.tries > 0;
        let invocation = self
            .serial
            .pop_front_if(is_suspect)
            .or_else(|| self.concurrent.pop_front_if(is_suspect));
        self.taken(invocation)
    }

    /// The next HTTP work that does not have to wait.
    pub(super) fn next_concurrent(&mut self) -> Option<QueuedInvocation> {
        let place = self.concurrent.iter().position(is_due)?;
        let invocation = self.concurrent.remove(place);
        self.taken(invocation)
    }

    /// Waits until work that has to wait may be started; forever if none has to.
    pub(super) fn due(&self) -> impl Future<Output = ()> + use<> {
        let next_due = self.next_due;
        async move {
            match next_due {
                Some(next_due) => tokio::time::sleep_until(next_due).await,
                None => std::future::pending().await,
            }
        }
    }

    /// Lets work be started that has waited long enough.
    pub(super) fn release_due(&mut self) {
        let now = Instant::now();
        if self.next_due.is_none_or(|next_due| next_due > now) {
            return;
        }
        self.next_due = None;
        for invocation in self.serial.iter_mut().chain(&mut self.concurrent) {
            invocation.not_before = invocation.not_before.filter(|not_before| *not_before > now);
            self.next_due = earlier(self.next_due, invocation.not_before);
        }
    }

    fn taken(&self, invocation: Option<QueuedInvocation>) -> Option<QueuedInvocation> {
        invocation.inspect(|invocation| self.waiting.take(invocation))
    }

    /// Whether more is to be claimed, if there is room for it.
    pub(super) fn wants_more(&self) -> bool {
        self.more && !self.is_claiming()
    }

    /// Claims more if there may be more and there is room. Leases that may have run out are prolonged before that: a
    /// claim would take their invocations for work that nobody has.
    pub(super) fn claim(&mut self, lease: &RunnableLease, overdue: Vec<Lease>) {
        if !self.wants_more() {
            return;
        }
        let Some(bytes) = self.waiting.room() else {
            return;
        };
        self.more = false;
        let limit = WorkLimit {
            invocations: CLAIMED_AT_ONCE,
            bytes: bytes as u64,
            has_begun: false,
        };
        let (context, lease) = (Arc::clone(&self.context), lease.clone());
        let claims = self.claims.clone();
        // The moment at which the other leases were looked at: however long the store takes, none of them has run out for it.
        let now_ms = context.core.env.now_ms();
        self.claiming.start(async move {
            let (core, store) = (&context.core, &context.core.store);
            let (lease, overdue) = (&lease, &overdue);
            let claim = |term| async move {
                core.prolong(overdue).await?;
                store.claim(lease, term, now_ms, limit).await
            };
            let give_back = |term| store.release_claim(&lease.runnable, term);
            let claimed = claims.claim(core, claim, give_back).await?;
            Ok((limit, claimed))
        });
    }

    /// Waits for the claim under way; forever if there is none.
    pub(super) async fn claimed(&mut self) -> Claim {
        self.claiming.ended().await
    }

    /// Waits for the claim under way, if there is one, and takes in its work.
    pub(super) async fn await_claim(&mut self, renew: impl FnMut(&Lease) -> bool) {
        if self.is_claiming() {
            let claimed = self.claimed().await;
            self.finish_claim(claimed, renew);
        }
    }

    /// Takes out leased work before it is started.
    pub(super) fn take(&mut self, id: &InvocationId) -> Option<QueuedInvocation> {
        let is_meant = |invocation: &QueuedInvocation| {
            invocation.invocation_id == *id && invocation.lease.is_some()
        };
        let lanes = [&mut self.serial, &mut self.concurrent];
        let taken = lanes.into_iter().find_map(|lane| {
            let place = lane.iter().position(is_meant)?;
            lane.remove(place)
        });
        self.taken(taken)
    }

    /// Takes in claimed work. After a jump of the clock this runner may have it already: then the new
    /// lease takes the place of the one that ran out, here or in flight, where `renew` does it.
    pub(super) fn finish_claim(&mut self, claimed: Claim, mut renew: impl FnMut(&Lease) -> bool) {
        match claimed {
            Ok((limit, claimed)) => {
                self.more |= limit.is_reached_by(&claimed);
                for claimed in claimed {
                    if !renew(&claimed.lease) && !self.renew(&claimed.lease) {
                        let invocation = QueuedInvocation::from(claimed);
                        self.waiting.add(&invocation);
                        self.push(invocation);
                    }
                }
            }
            // The wait for it is over already.
            Err(StoreError::Unavailable { .. }) => self.more = true,
            // The chore that looks for work which nobody holds wakes this runner again.
            Err(error) => {
                tracing::error!(source_id = %self.id, %error, "work cannot be claimed now")
            }
        }
    }

    fn renew(&mut self, lease: &Lease) -> bool {
        let mut waiting = self.serial.iter_mut().chain(&mut self.concurrent);
        waiting.any(|invocation| invocation.renew(lease))
    }

    /// The leases of the waiting work.
    pub(super) fn leases(&self) -> impl Iterator<Item = Lease> {
        self.serial
            .iter()
            .chain(&self.concurrent)
            .filter_map(|invocation| invocation.lease.clone())
    }

    /// Gives leased work back to the store and answers requests that wait.
    pub(super) async fn refuse(&mut self, response: impl Fn() -> CustomResponse) {
        self.more = false;
        self.await_claim(|_| false).await;
        self.more = false;
        let waiting: Vec<QueuedInvocation> = self
            .serial
            .drain(..)
            .chain(self.concurrent.drain(..))
            .collect();
        for invocation in waiting {
            self.waiting.take(&invocation);
            if let Reply::Response(reply) = invocation.reply {
                let _ = reply.send(response());
            }
            if let Some(lease) = &invocation.lease {
                self.context.core.give_back(lease, None).await;
            }
        }
    }
}

fn is_due(invocation: &QueuedInvocation) -> bool {
    invocation.not_before.is_none()
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// The time that an invocation waits that so many nodes have begun, this one included. It may be the
/// cause of their ends, so that the others' work is to be done before it; but accepted work is never
/// given up.
fn backoff(starts: u32) -> Option<Duration> {
    let suspected = starts.checked_sub(STARTS_AT_ONCE + 1)?;
    let backoff = BACKOFF.saturating_mul(2_u32.saturating_pow(suspected));
    Some(backoff.min(BACKOFF_MAX))
}

impl From<Claimed> for QueuedInvocation {
    fn from(claimed: Claimed) -> Self {
        Self {
            invocation_id: claimed.lease.invocation_id.clone(),
            lease: Some(claimed.lease),
            trigger: claimed.trigger,
            event: claimed.event,
            hops: claimed.hops,
            queued_at_ms: claimed.queued_at_ms,
            origin: claimed.origin,
            not_before: backoff(claimed.starts).map(|backoff| Instant::now() + backoff),
            is_admitted: claimed.trigger.admission() == Admission::WhenQueued,
            tries: 0,
            former_starts: claimed.starts.saturating_sub(1),
            repeated: false,
            accounts: Vec::new(),
            reply: Reply::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_starts_do_not_wait_and_further_ones_longer_and_longer() {
        let seconds = |starts| backoff(starts).map(|backoff| backoff.as_secs());
        assert_eq!([1, 5].map(seconds), [None; 2]);
        assert_eq!([6, 7, 8].map(seconds), [Some(1), Some(2), Some(4)]);
        assert_eq!([20, u32::MAX].map(seconds), [Some(300); 2]);
    }
}
