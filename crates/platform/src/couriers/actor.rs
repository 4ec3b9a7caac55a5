//! The task that delivers to one webhook: the order of claims, attempts and records.
//!
//! Claims, attempts and records overlap. Everything that must be in order for the webhook is decided
//! here: the attempts in flight, its health, the moment to give it up.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use headwater_model::{id::WebhookId, time::EpochMs, webhook::DeliveryOrder};
use headwater_store::{
    AfterAttempt, AttemptRecord, ClaimedDelivery, DeliveryLease, DisabledWebhook,
};

use super::{
    attempt::{Answered, attempt},
    claim::Claim,
    context::CourierContext,
    held::HeldLeases,
    limits::Permit,
    queue::Queue,
    records::{Recorded, Records},
    signals::Signals,
    target::Target,
    verdict::{Ended, disabled, verdict},
};
use crate::{
    actor::{Claims, Heartbeat, InFlight},
    changes::Change,
    chore::Chore,
    error::PlatformError,
};

/// Deliveries claimed at once: few at first, more while claims come back full.
const CLAIMED_AT_ONCE_MIN: u32 = 32;
const CLAIMED_AT_ONCE_MAX: u32 = 256;

pub(super) struct Actor {
    context: Arc<CourierContext>,
    id: WebhookId,
    signals: Arc<Signals>,
    target: Option<Arc<Target>>,
    /// The changes of the webhook that the target takes into account.
    known_changes: u64,
    failing_since_ms: Option<EpochMs>,
    /// Whether the last attempt was slow.
    is_slow: bool,
    queue: Queue,
    held: HeldLeases,
    claims: Claims,
    claiming: InFlight<Result<Option<Claim>, PlatformError>>,
    /// The changes of the webhook before the claim under way.
    claimed_changes: u64,
    /// Leases that the next claim gives back.
    returned: Vec<DeliveryLease>,
    claim_limit: u32,
    /// Whether somebody said that there is work.
    nudged: bool,
    /// Whether the last claim left others because of their number or size.
    more: bool,
    /// Whether the last claim left retries because of their number.
    more_retries: bool,
    /// A permit that was waited for.
    permit: Option<Permit>,
    permitting: InFlight<Option<Permit>>,
    attempts: FuturesUnordered<BoxFuture<'static, Answered>>,
    records: Records,
    /// Whether the webhook is given up: nothing starts any more until that is recorded.
    given_up: bool,
    disabled: Option<Box<DisabledWebhook>>,
    /// Whether the node is stopping: nothing starts any more.
    stopping: bool,
}

impl Actor {
    pub(super) fn new(context: Arc<CourierContext>, id: WebhookId, signals: Arc<Signals>) -> Self {
        Self {
            queue: Queue::new(context.core.config.deliveries.webhook_concurrency),
            records: Records::new(Arc::clone(&context.core), id.clone()),
            id,
            signals,
            target: None,
            known_changes: 0,
            failing_since_ms: None,
            is_slow: false,
            held: HeldLeases::default(),
            claims: Claims::default(),
            claiming: InFlight::default(),
            claimed_changes: 0,
            returned: Vec::new(),
            claim_limit: CLAIMED_AT_ONCE_MIN,
            nudged: true,
            more: false,
            more_retries: false,
            permit: None,
            permitting: InFlight::default(),
            attempts: FuturesUnordered::new(),
            given_up: false,
            disabled: None,
            stopping: context.core.stopping.is_cancelled(),
            context,
        }
    }

    /// Delivers until there is nothing to do or the node stops. Boxed, because a future has room for each place that
    /// its parameter is moved to.
    pub(super) async fn run(mut self: Box<Self>) {
        let context = Arc::clone(&self.context);
        let mut heartbeat = Heartbeat::new(&context.core.env);
        loop {
            self.advance();
            if self.is_idle() && self.remove_if_idle() {
                let mut leases = self.held.leases();
                leases.append(&mut self.returned);
                return self.release(&leases).await;
            }
            tokio::select! {
                Some(answered) = self.attempts.next() => self.end(answered),
                recorded = self.records.next() => self.recorded(recorded).await,
                claim = self.claiming.ended() => self.finish_claim(claim).await,
                permit = self.permitting.ended() => self.permit = permit,
                () = self.signals.nudged() => {}
                () = heartbeat.beat() => self.prolong_leases().await,
                () = context.core.stopping.cancelled(), if !self.stopping => self.stopping = true,
                () = context.abandoned.cancelled(), if !self.attempts.is_empty() => self.attempts.clear(),
            }
        }
    }

    /// Removes the courier from the registry, unless it has been nudged meanwhile and still runs.
    fn remove_if_idle(&self) -> bool {
        let may_remove = || self.stopping || !self.signals.is_nudged();
        self.context.residents.remove_if(&self.id, may_remove)
    }

    /// Starts whatever may start now.
    fn advance(&mut self) {
        self.nudged |= self.signals.take_nudge();
        self.start_recording();
        // An attempt that ends at the same moment may be seen first; nothing starts after it.
        self.stopping |= self.context.core.stopping.is_cancelled();
        if self.stopping || self.given_up {
            return self.drop_permit();
        }
        if self.is_stale() {
            return self.claim_anew();
        }
        self.start_attempts();
        if self.wants_claim() {
            self.claim();
        }
    }

    /// Whether there may be more to claim, and room for it.
    fn wants_claim(&self) -> bool {
        let (queue, limit) = (&self.queue, self.claim_limit as usize);
        let nudged = self.nudged && queue.first_len() < limit;
        let more = self.more && queue.len() < limit;
        let retries = self.more_retries && queue.is_short_of_retries();
        queue.is_light() && (nudged || more || retries)
    }

    fn is_idle(&self) -> bool {
        let wanted = self.queue.len() > 0 || self.nudged || self.more || self.more_retries;
        self.attempts.is_empty()
            && self.records.is_idle()
            && self.claiming.is_idle()
            && (self.stopping || !wanted)
    }

    fn is_stale(&self) -> bool {
        self.queue.len() > 0 && self.known_changes != self.signals.changes()
    }

    fn start_attempts(&mut self) {
        let Some(target) = self.target.clone() else {
            return;
        };
        let failing = self.failing_since_ms.is_some();
        let unwell = failing || self.is_slow;
        let unordered = failing || target.webhook.ordering == DeliveryOrder::Unordered;
        let concurrency = self
            .context
            .core
            .config
            .deliveries
            .webhook_concurrency
            .max(1);
        // Attempts that are not recorded are repeated after a crash: they are no more than two batches and those in flight.
        while self.attempts.len() < concurrency
            && self.records.fit_one_batch()
            && self.queue.has_next(unordered)
        {
            if self.permit.is_none() && self.permitting.is_idle() {
                self.permit = target.gate.try_acquire(unwell);
            }
            let Some(permit) = self.permit.take() else {
                if self.permitting.is_idle() {
                    let gate = target.gate.clone();
                    let permit = async move { gate.acquire(unwell).await };
                    self.permitting.start(permit);
                }
                return;
            };
            if let Some(delivery) = self.queue.next(unordered) {
                let context = Arc::clone(&self.context);
                let attempt = attempt(context, Arc::clone(&target), delivery, permit);
                self.attempts.push(Box::pin(attempt));
            }
        }
        self.drop_permit();
    }

    fn drop_permit(&mut self) {
        self.permit = None;
        self.permitting.abandon();
    }

    fn end(&mut self, answered: Answered) {
        let Answered {
            target,
            delivery,
            at_ms,
            answer,
        } = answered;
        let Some(answer) = answer else {
            self.is_slow = true;
            return self.queue.put_back(delivery);
        };
        let latency = Duration::from_millis(answer.latency_ms);
        self.is_slow = latency > self.context.core.config.deliveries.quick_within;
        self.queue.ended(&delivery);
        let mut bits = [0; 4];
        self.context.core.env.random.fill(&mut bits);
        let now_ms = self.context.core.env.now_ms();
        let is_current = self.is_at(&target.webhook.url);
        let ended = Ended {
            answer: &answer,
            attempt: delivery.attempts + 1,
            failing_since_ms: self.failing_since_ms.filter(|_| is_current),
            now_ms,
            entropy: u32::from_le_bytes(bits),
        };
        let verdict = verdict(&self.context.core.config.deliveries.backoff, &ended);
        self.context.core.metrics.attempted(verdict.after, latency);
        if is_current {
            self.failing_since_ms = match verdict.is_delivered() {
                true => None,
                false => self.failing_since_ms.or(Some(at_ms)),
            };
            if let (Some(given_up), false) = (verdict.given_up, self.given_up) {
                self.given_up = true;
                let disabled = disabled(&target.webhook, &delivery, given_up, now_ms);
                self.disabled = Some(Box::new(disabled));
            }
        }
        self.records.push(AttemptRecord {
            attempt: answer.attempt(at_ms, delivery.cause),
            lease: delivery.lease,
            after: verdict.after,
        });
    }

    /// Whether the webhook, as far as is known here, is still there.
    fn is_at(&self, url: &str) -> bool {
        let target = self.target.as_ref();
        target.is_some_and(|target| target.webhook.url == url)
    }

    /// Starts recording ended attempts. A webhook is disabled with the last of them, so that attempts
    /// in flight meanwhile are not lost.
    fn start_recording(&mut self) {
        if !self.records.can_start() {
            return;
        }
        let is_last = self.attempts.is_empty() && self.records.fit_one_batch();
        let disabled = self.disabled.take_if(|_| is_last).map(|disabled| *disabled);
        let held = &mut self.held;
        self.records.start(|record| held.renew(record), disabled);
    }

    async fn recorded(&mut self, recorded: Recorded) {
        self.tell();
        for (record, result) in recorded.attempts {
            match result {
                Ok(()) => {
                    if let AfterAttempt::RetryAt(due_ms) = record.after {
                        self.nudged |= self.context.note_retry(due_ms);
                    }
                    let again = self.held.let_go(&record.lease.delivery_id);
                    again.into_iter().for_each(|again| self.accept(again));
                }
                Err(_) if self.held.has_newer(&record.lease) => self.records.push(record),
                Err(error) => {
                    let delivery = &record.lease.delivery_id;
                    tracing::warn!(webhook_id = %self.id, delivery_id = %delivery, %error, "an attempt was not recorded");
                    self.held.let_go(delivery);
                }
            }
        }
        let Some(is_disabled) = recorded.disabled else {
            return;
        };
        self.given_up = false;
        if is_disabled {
            tracing::warn!(webhook_id = %self.id, "the webhook was disabled");
            self.context.core.metrics.disabled_webhook();
            // Its `$errors` event is there to be passed on, and much that waits to be given up in steps.
            for chore in [Chore::Dispatch, Chore::Retention] {
                self.context.core.nudges.nudge(chore);
            }
            (self.more, self.more_retries) = (false, false);
            // A claim may be under way that found it active: its deliveries are not attempted.
            self.signals.note_change();
        } else {
            // Somebody has changed it meanwhile: it is read again.
            self.nudged = true;
        }
        let waiting = self.queue.drain();
        self.give_back(waiting).await;
    }

    /// Claims the waiting deliveries again: they are attempted with the webhook's present record, if
    /// they still exist.
    fn claim_anew(&mut self) {
        if self.claiming.is_idle() {
            let waiting = self.queue.drain();
            let leases = self.take_leases(&waiting);
            self.returned.extend(leases);
            self.claim();
        }
    }

    fn claim(&mut self) {
        if !self.claiming.is_idle() {
            return;
        }
        self.nudged = false;
        (self.more, self.more_retries) = (false, false);
        let (context, id) = (Arc::clone(&self.context), self.id.clone());
        let limit = self.queue.room(self.claim_limit);
        self.claimed_changes = self.signals.changes();
        let (claims, returned) = (self.claims.clone(), self.returned.clone());
        self.claiming.start(async move {
            let claim = context.claim_deliveries(&id, &claims, limit, &returned);
            claim.await
        });
    }

    async fn finish_claim(&mut self, claim: Result<Option<Claim>, PlatformError>) {
        let claim = match claim {
            Ok(Some(claim)) => claim,
            Ok(None) => {
                (self.nudged, self.more, self.more_retries) = (true, true, true);
                return;
            }
            Err(error) => {
                // The background step comes back to it.
                tracing::error!(webhook_id = %self.id, %error, "cannot deliver now");
                self.target = None;
                let waiting = self.queue.drain();
                return self.give_back(waiting).await;
            }
        };
        self.known_changes = self.claimed_changes;
        self.returned.clear();
        let (full, any, retries) = (claim.is_full(), claim.leaves_any(), claim.leaves_retries());
        let Some(target) = claim.target else {
            self.target = None;
            return self.drop_waiting();
        };
        self.set_target(target);
        self.tell();
        (self.more, self.more_retries) = (any, retries);
        self.claim_limit = match full && self.failing_since_ms.is_none() {
            true => (claim.limit.deliveries * 2).min(CLAIMED_AT_ONCE_MAX),
            false => CLAIMED_AT_ONCE_MIN,
        };
        claim
            .claimed
            .into_iter()
            .for_each(|claimed| self.accept(claimed));
    }

    /// Tells that the deliveries have changed.
    fn tell(&self) {
        if let Some(target) = &self.target {
            self.context.core.tell(Change::of_webhook(&target.webhook));
        }
    }

    /// Directs later attempts to the target.
    fn set_target(&mut self, target: Arc<Target>) {
        let is_elsewhere = !self.is_at(&target.webhook.url);
        if is_elsewhere || (self.records.is_idle() && self.attempts.is_empty()) {
            self.failing_since_ms = target.webhook.failing_since_ms;
        }
        let former = self.target.replace(target);
        let moved = former.is_some_and(|former| {
            let now = self.target.as_ref();
            now.is_some_and(|now| !now.gate.is_of_same_host(&former.gate))
        });
        if moved {
            self.drop_permit();
        }
    }

    fn accept(&mut self, claimed: ClaimedDelivery) {
        if let Some(delivery) = self.held.insert(claimed) {
            self.queue.push(delivery);
        }
    }

    /// Forgets the waiting deliveries, because the store has ended them.
    fn drop_waiting(&mut self) {
        (self.more, self.more_retries) = (false, false);
        for delivery in self.queue.drain() {
            self.held.let_go(&delivery.lease.delivery_id);
        }
    }

    /// Gives deliveries back to the store, which will tell that they are due.
    async fn give_back(&mut self, deliveries: Vec<ClaimedDelivery>) {
        let leases = self.take_leases(&deliveries);
        self.release(&leases).await;
    }

    fn take_leases(&mut self, deliveries: &[ClaimedDelivery]) -> Vec<DeliveryLease> {
        deliveries
            .iter()
            .filter_map(|delivery| self.held.take_lease(&delivery.lease.delivery_id))
            .collect()
    }

    async fn release(&mut self, leases: &[DeliveryLease]) {
        if leases.is_empty() {
            return;
        }
        if let Err(error) = self.context.core.store.release_deliveries(leases).await {
            tracing::debug!(webhook_id = %self.id, %error, "cannot give leases back; they will expire");
        }
    }

    async fn prolong_leases(&mut self) {
        let leases = self.held.leases();
        if leases.is_empty() {
            return;
        }
        let until_ms = self.context.core.lease_term().expires_at_ms;
        let prolonged = self
            .context
            .core
            .store
            .extend_delivery_leases(&leases, until_ms);
        if let Err(error) = prolonged.await {
            tracing::warn!(webhook_id = %self.id, %error, "leases could not be prolonged");
        }
    }
}
