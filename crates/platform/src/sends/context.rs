//! The services and limits that attempts share, and the way of an attempt: made, recorded, its room given back.

use std::{
    collections::HashMap,
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use headwater_store::{ClaimedSend, Owner, SENDS_PER_LANE, SendAttempt, SendId, StoreError};
use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{
    arguments::shown_arguments,
    email, http,
    s3::{Batch, S3},
    verdict::{Attempt, Ended},
};
use crate::{
    actor::store_returns,
    chore::Chore,
    core::Core,
    error::PlatformError,
    outbound::Client,
    workflows::{AccountMasks, Mask, Masks, OpenedVariables, accounts_marked_in},
};

/// The time after which a record is late: leases of its sends may run out before it is written.
const RECORDED_WITHIN: Duration = Duration::from_secs(10);
/// Attempts in flight at once.
const ATTEMPTS_AT_ONCE: usize = 32;
/// The time of an attempt of any kind; the lease lasts longer.
const ATTEMPT_DEADLINE: Duration = Duration::from_secs(45);

/// The end of an attempt, and the owner of its workflow.
pub(super) struct EndedSend {
    owner: Owner,
    attempt: SendAttempt,
}

impl EndedSend {
    pub(super) fn new(send: &ClaimedSend, attempt: SendAttempt) -> Self {
        Self {
            owner: send.owner.clone(),
            attempt,
        }
    }
}

/// The services and limits that attempts share.
pub(super) struct SendContext {
    pub(super) core: Arc<Core>,
    /// Knows the variables whose values are marked in what sends keep.
    variables: Arc<OpenedVariables>,
    account_masks: Arc<AccountMasks>,
    /// The masks of accounts whose secrets are in sends under way.
    marked: Mutex<HashMap<SendId, Vec<Mask>>>,
    client: Client,
    pub(super) s3: Option<S3>,
    room: Arc<Semaphore>,
    /// Attempts in flight by lane.
    lanes: Mutex<HashMap<String, u32>>,
    /// Whether sends may be waiting for room.
    pub(super) is_short: AtomicBool,
    /// Ends of attempts that could not be recorded yet: their leases may run out, and nothing is claimed meanwhile.
    unrecorded: AtomicU32,
}

impl SendContext {
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(super) fn new(
        core: Arc<Core>,
        variables: Arc<OpenedVariables>,
        account_masks: Arc<AccountMasks>,
    ) -> Result<Self, PlatformError> {
        let config = &core.config.deliveries;
        let s3 = core.config.s3.clone();
        Ok(Self {
            client: Client::new(config, http::TIMEOUT)?,
            s3: s3.map(|s3| S3::new(s3, config)).transpose()?,
            room: Arc::new(Semaphore::new(ATTEMPTS_AT_ONCE)),
            lanes: Mutex::default(),
            is_short: AtomicBool::new(false),
            unrecorded: AtomicU32::new(0),
            variables,
            account_masks,
            marked: Mutex::default(),
            core,
        })
    }

    /// A send with the values in place of their marks, as it leaves the node.
    pub(super) async fn opened(&self, mut send: ClaimedSend) -> ClaimedSend {
        let opened = async {
            let masks = self.masks(&send).await?;
            let value = send.value.clone();
            masks.opened_value(&self.core.aside, value).await
        };
        match opened.await {
            Ok(opened) => send.value = opened,
            Err(error) => tracing::warn!(%error, "a send leaves with marks instead of values"),
        }
        send
    }

    /// The masks for a send. Those of accounts are remembered for its end.
    async fn masks(&self, send: &ClaimedSend) -> Result<Arc<Masks>, PlatformError> {
        let variables = self.variables.of(&send.owner).await?;
        let accounts = accounts_marked_in(send.value.get());
        let of_accounts = self.account_masks.marked(&send.owner, accounts).await?;
        if !of_accounts.is_empty() {
            let mut marked = self.marked.lock();
            marked.insert(send.id.clone(), of_accounts.clone());
        }
        let masks = variables.masks.beside(&self.core.aside, of_accounts);
        masks.await
    }

    /// Ends as they are kept: with marks instead of the values.
    pub(super) async fn masked(&self, ended: Vec<EndedSend>) -> Vec<SendAttempt> {
        let mut records = Vec::new();
        for EndedSend { owner, mut attempt } in ended {
            let variables = self.variables.of(&owner).await;
            let of_accounts = self.marked.lock().remove(&attempt.id).unwrap_or_default();
            let masks = match variables {
                Ok(variables) => variables.masks.beside(&self.core.aside, of_accounts).await,
                Err(error) => Err(error),
            };
            // Without them nobody knows what is to be masked: nothing is shown then.
            let result = attempt.result.take();
            attempt.result = match (result, masks) {
                (Some(result), Ok(masks)) => {
                    masks.hidden_value(&self.core.aside, result).await.ok()
                }
                (_, Err(_)) | (None, _) => None,
            };
            records.push(attempt);
        }
        records
    }

    /// The number of attempts that may begin.
    pub(super) fn room(&self) -> u32 {
        if self.unrecorded.load(Ordering::SeqCst) > 0 {
            return 0;
        }
        u32::try_from(self.room.available_permits()).unwrap_or(u32::MAX)
    }

    /// The right to have one attempt in flight.
    pub(super) fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).try_acquire_owned().ok()
    }

    /// Starts an attempt over HTTP.
    pub(super) fn start_request(self: &Arc<Self>, send: ClaimedSend, permit: OwnedSemaphorePermit) {
        let context = Arc::clone(self);
        self.enter(&send);
        self.core.tasks.spawn(async move {
            let now_ms = context.core.env.now_ms();
            let attempted = http::attempted(&context.client, &send, now_ms);
            context.attempt(&send, attempted, permit).await;
            context.left(&send);
        });
    }

    fn enter(&self, send: &ClaimedSend) {
        if let Some(lane) = &send.lane {
            *self.lanes.lock().entry(lane.clone()).or_default() += 1;
        }
    }

    /// Others may have waited for an attempt of a full lane.
    fn left(&self, send: &ClaimedSend) {
        let Some(lane) = &send.lane else { return };
        let mut lanes = self.lanes.lock();
        let Some(in_flight) = lanes.get_mut(lane) else {
            return;
        };
        let was_full = *in_flight >= SENDS_PER_LANE;
        *in_flight -= 1;
        if *in_flight == 0 {
            lanes.remove(lane);
        }
        if was_full {
            self.core.nudges.nudge(Chore::Sends);
        }
    }

    /// Starts an attempt of a mail.
    pub(super) fn start_mail(self: &Arc<Self>, send: ClaimedSend, permit: OwnedSemaphorePermit) {
        let context = Arc::clone(self);
        self.core.tasks.spawn(async move {
            let attempted = email::attempted(&context.core, &send);
            context.attempt(&send, attempted, permit).await;
        });
    }

    async fn attempt(
        &self,
        send: &ClaimedSend,
        attempted: impl Future<Output = Ended>,
        permit: OwnedSemaphorePermit,
    ) {
        let attempt = Attempt::begin(&self.core);
        let ended = tokio::time::timeout(ATTEMPT_DEADLINE, attempted).await;
        let ended = ended.unwrap_or_else(|_| Ended::late(ATTEMPT_DEADLINE));
        let record = EndedSend::new(send, attempt.end(&self.core, send, ended));
        self.recorded(vec![record], permit).await;
    }

    /// Starts the storing of an object.
    pub(super) fn start_object(self: &Arc<Self>, batch: Batch, permit: OwnedSemaphorePermit) {
        let context = Arc::clone(self);
        self.core.tasks.spawn(async move {
            let Some(s3) = &context.s3 else { return };
            let core = &context.core;
            let attempt = Attempt::begin(core);
            let storing = s3.stored(&batch, core.env.now_ms());
            let stored = tokio::time::timeout(ATTEMPT_DEADLINE, storing).await;
            let stored = stored.unwrap_or_else(|_| Ended::late(ATTEMPT_DEADLINE));
            let of_line = |send: &ClaimedSend| {
                let ended = stored.with_request(shown_arguments(send.way, &send.value));
                EndedSend::new(send, attempt.end(core, send, ended))
            };
            let records = batch.sends.iter().map(of_line).collect();
            context.recorded(records, permit).await;
        });
    }

    /// Records ends of attempts, then gives their room back.
    async fn recorded(&self, ended: Vec<EndedSend>, permit: OwnedSemaphorePermit) {
        self.record(self.masked(ended).await).await;
        drop(permit);
        if self.is_short.load(Ordering::SeqCst) {
            self.core.nudges.nudge(Chore::Sends);
        }
    }

    /// Records; as long as the store is unavailable, tries again, because the attempts have happened.
    pub(super) async fn record(&self, records: Vec<SendAttempt>) {
        let mut is_waiting = false;
        let mut waits = || {
            if !mem::replace(&mut is_waiting, true) {
                self.unrecorded.fetch_add(1, Ordering::SeqCst);
            }
        };
        loop {
            let mut recording = self.core.store.end_sends(records.clone());
            let recorded = match timeout(RECORDED_WITHIN, &mut recording).await {
                Ok(recorded) => recorded,
                Err(_) => {
                    waits();
                    recording.await
                }
            };
            let Err(error) = recorded else { break };
            let error_text = error.in_full();
            tracing::error!(error = error_text, "cannot record attempts of sends");
            waits();
            let may_return = matches!(error, StoreError::Unavailable { .. });
            if !may_return || !store_returns(&self.core.stopping).await {
                break;
            }
        }
        if is_waiting {
            self.unrecorded.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
