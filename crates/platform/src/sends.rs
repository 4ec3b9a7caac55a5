//! Sends of workflows: what steps ask for with `$.send.http`, `$.send.email` and `$.send.s3`, made after their commit.
//!
//! A step claims sends that are due under a lease and starts an attempt of each; the end of an attempt is recorded
//! with a result for people. A send ends only when its attempt has ended, so that none is lost: an attempt whose
//! node dies is made again, with the same name (`Idempotency-Key`, Message-ID). Not responsible for queueing sends:
//! the commit of their step does that.
//!
//! ```text
//!                 ┌─► HTTP ──────────────────────┐
//!  due ──► claim ─┼─► mail ──────────────────────┼─► record ──► sent, failed, due again
//!                 └─► S3: its minute is not over ┤
//!                     lines of one object ───────┘
//! ```

mod arguments;
mod context;
mod email;
mod http;
mod s3;
mod shown;
mod taken;
#[cfg(test)]
mod tests;
mod verdict;

use std::sync::{Arc, atomic::Ordering};

use headwater_store::{ClaimedSend, Progress, StoreError};

use self::{context::SendContext, taken::Taken};
use crate::{
    actor::Claims,
    core::Core,
    error::PlatformError,
    workflows::{AccountMasks, OpenedVariables},
};

pub(crate) use self::arguments::shown_arguments;

/// Sends that a step takes at most.
const SENDS_PER_STEP: u64 = 2_000;

/// The sends of this node.
pub(crate) struct Sends {
    context: Arc<SendContext>,
    claims: Claims,
}

impl Sends {
    /// None in flight yet.
    ///
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(crate) fn new(
        core: Arc<Core>,
        variables: Arc<OpenedVariables>,
        account_masks: Arc<AccountMasks>,
    ) -> Result<Self, PlatformError> {
        let context = Arc::new(SendContext::new(core, variables, account_masks)?);
        Ok(Self {
            context,
            claims: Claims::default(),
        })
    }

    /// Starts attempts of what is due, as far as there is room.
    ///
    /// # Errors
    /// The store does not answer. Attempts that have been started go on.
    pub(crate) async fn step(&self) -> Result<Progress, StoreError> {
        let (context, core) = (&self.context, &self.context.core);
        // Before the room is looked at, so that an attempt that ends now nudges.
        context.is_short.store(true, Ordering::SeqCst);
        let mut taken = Taken::new(context);
        let mut progress = Progress {
            more: true,
            ..Progress::default()
        };
        while progress.more && progress.done < SENDS_PER_STEP && !taken.is_full() {
            let room = context.room();
            if room == 0 {
                break;
            }
            let claimed = match self.claim(room).await {
                Ok(claimed) => claimed,
                Err(error) => {
                    taken.start_objects();
                    return Err(error);
                }
            };
            progress.more = claimed.len() >= room as usize;
            progress.done += claimed.len() as u64;
            for send in claimed {
                taken.take(context.opened(send).await);
            }
        }
        taken.start_objects();
        let ended = taken.ended();
        if !ended.is_empty() {
            context.record(context.masked(ended).await).await;
        }
        if progress.more {
            // The end of an attempt nudges if there was no room left.
            progress.more = context.room() > 0;
            return Ok(progress);
        }
        context.is_short.store(false, Ordering::SeqCst);
        progress.next_due_ms = core.store.next_send_due().await?;
        Ok(progress)
    }

    async fn claim(&self, most: u32) -> Result<Vec<ClaimedSend>, StoreError> {
        let core = &self.context.core;
        let (store, now_ms) = (&core.store, core.env.now_ms());
        let claim = |term| store.claim_sends(term, now_ms, most);
        let give_back = |term| store.release_send_claim(term);
        self.claims.claim(core, claim, give_back).await
    }
}
